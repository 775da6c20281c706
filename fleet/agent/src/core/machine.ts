/** Describes this machine for the hub: model, architecture, agent version, addresses. */
import { readFileSync } from "node:fs";
import { type NetworkInterfaceInfo, hostname, networkInterfaces, release, type } from "node:os";
import type { NetworkInterface } from "boxwright-service/schema/protocol";

/** Files in which Linux states the machine's model: the first on boards, the second on PCs. */
const MODELS = ["/sys/firmware/devicetree/base/model", "/sys/class/dmi/id/product_name"];
const MOST_INTERFACES = 16;

function modelOfMachine(): string {
  for (const path of MODELS)
    try {
      const text = readFileSync(path, "latin1")
        .replace(/[^\x20-\x7e]/g, "")
        .trim();
      if (text !== "") return text.slice(0, 100);
    } catch {
      // Skip a file that is missing or unreadable for this user.
    }
  return `${type()} ${release()}`.slice(0, 100);
}

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

export const machine = { model: modelOfMachine(), architecture: process.arch, version, name: hostname() } as const;

/** Returns the addresses under which others can reach this machine. Empty if the system hides them. */
export function interfacesOf(read: () => NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces): NetworkInterface[] {
  let all: NodeJS.Dict<NetworkInterfaceInfo[]>;
  try {
    all = read();
  } catch {
    // A systemd unit may forbid AF_NETLINK, which the system needs for this list.
    return [];
  }
  const found = Object.entries(all).flatMap(([name, addresses = []]) =>
    addresses
      .filter(({ family, internal }) => family === "IPv4" && !internal)
      .map(({ address, mac }) => ({ name, ipv4: address, mac })),
  );
  return found.slice(0, MOST_INTERFACES);
}
