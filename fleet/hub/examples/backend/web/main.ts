// Asks our own backend. The browser gets neither the API key nor the address of the hub.
const list = document.querySelector("#devices")!;
const status = document.querySelector("#status")!;
try {
  const response = await fetch("/api/devices");
  if (!response.ok) throw new Error(`got status ${response.status}, expected 200`);
  for (const { name } of (await response.json()) as { name: string }[]) {
    const item = document.createElement("li");
    item.textContent = name;
    list.append(item);
  }
  status.textContent = "";
} catch {
  status.textContent = "The devices are not available at the moment.";
}

export {};
