/**
 * Checks that addresses are public. A service that posts to a user's address must not reach its own machine,
 * neighbouring machines, or the metadata service of a cloud. Names are checked when a connection is made, since they
 * may resolve differently later.
 */
import dns from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

export type LookUp = LookupFunction;

/** IPv4 networks that are not public, from IANA's registries. */
const INSIDE: readonly (readonly [string, number])[] = [
  ...([
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 3],
  ] as const),
];
const blocked = new BlockList();
for (const [address, bits] of INSIDE) blocked.addSubnet(address, bits, "ipv4");
/** The range of public IPv6 addresses. `tunnels` lists its exceptions: documentation and tunnelled IPv4. */
const global6 = new BlockList();
global6.addSubnet("2000::", 3, "ipv6");
const tunnels = new BlockList();
for (const [address, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  tunnels.addSubnet(address, bits, "ipv6");

/** True if an IP address belongs to the public internet. */
export function isPublic(address: string): boolean {
  const kind = isIP(address);
  if (kind === 4) return !blocked.check(address, "ipv4");
  if (kind !== 6 || address.includes("%")) return false;
  return global6.check(address, "ipv6") && !tunnels.check(address, "ipv6");
}

const refusal = (address: string): Error =>
  new Error(`got ${address}, which is no public address, and the service may not send there`);

/** Throws if the host of a URL is a non-public IP address, since Node calls `lookUpPublic` only for names. */
export function refuseInside(hostname: string): void {
  const address = hostname.replace(/^\[|\]$/g, "");
  if (isIP(address) !== 0 && !isPublic(address)) throw refusal(address);
}

/** Looks up a name like `dns.lookup`, but fails if any of its addresses is not public. */
export const lookUpPublic: LookUp = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    const inside = addresses?.find(({ address }) => !isPublic(address));
    if (error || first === undefined) callback(error ?? new Error(`got no address of ${hostname}`), "", 0);
    else if (inside !== undefined) callback(refusal(inside.address), "", 0);
    else if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
