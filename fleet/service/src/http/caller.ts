/** Finds the caller of a request: the address for limits, and the Authorization headers. */
import type { IncomingMessage } from "node:http";

/** Largest number of characters of an address with a port. Anything longer is invented by a client. */
const MAX_ADDRESS = 64;

/**
 * Returns the caller for an address. IPv4: the address. IPv6: its /64 network, which usually belongs to one customer.
 * An IPv4 address inside IPv6 counts as the IPv4 address. Removes the port that some proxies append: with the port,
 * every connection would be a separate caller.
 */
export function callerOf(sent: string): string {
  const given = sent.slice(0, MAX_ADDRESS);
  const address = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(given)?.[1] ?? /^\[([^\]]*)\](:\d+)?$/.exec(given)?.[1] ?? given;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1]!;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("%")[0]!.toLowerCase().split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : new Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0");
  const network = [...left, ...zeros, ...right].slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ""));
  return network.join(":") + "::/64";
}

/**
 * Returns the caller of a request. Each declared proxy appends one entry to X-Forwarded-For. Earlier entries are
 * ignored, since a client can write them.
 */
export function addressOf(request: IncomingMessage, proxyHops: number): string {
  const own = request.socket.remoteAddress ?? "unknown";
  if (proxyHops === 0) return callerOf(own);
  const forwarded = request.headers["x-forwarded-for"];
  const entries = typeof forwarded === "string" ? forwarded.split(",") : [];
  return callerOf(entries.at(-proxyHops)?.trim() || own);
}

/** Returns all Authorization headers. Node's `headers` keeps only the first. */
export function authorizationOf({ rawHeaders }: IncomingMessage): string[] {
  const found: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 13 && name.toLowerCase() === "authorization") found.push(rawHeaders[i + 1]!);
  }
  return found;
}
