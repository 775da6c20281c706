/**
 * The service worker: keeps the playground and the pages that were visited, so that they open without a network.
 * A build puts the list of files in place of FILES, and their hash in place of VERSION.
 */
const CACHE = "boxwright-VERSION";
const FILES = [];

self.addEventListener("install", (event) => {
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(FILES))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener("activate", (event) => {
  const isOld = (name) => name.startsWith("boxwright-") && name !== CACHE;
  const clear = async () => {
    for (const name of (await caches.keys()).filter(isOld)) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(clear());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !request.url.startsWith(self.registration.scope)) return;
  // The name of a file in assets/ changes with its content. Other files are requested again if there is a network.
  const isConstant = request.url.startsWith(`${self.registration.scope}assets/`);
  event.respondWith(isConstant ? fromCache(request) : fromNetwork(request));
});

async function fromCache(request) {
  return (await caches.match(request)) ?? fetchAndKeep(request);
}

async function fromNetwork(request) {
  try {
    return await fetchAndKeep(request);
  } catch (error) {
    const kept = await caches.match(request, { ignoreSearch: true });
    if (kept === undefined) throw error;
    return kept;
  }
}

async function fetchAndKeep(request) {
  const response = await fetch(request);
  if (response.ok) {
    const cache = await caches.open(CACHE);
    await cache.put(request, response.clone());
  }
  return response;
}
