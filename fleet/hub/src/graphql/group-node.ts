/** A group of devices in an answer. */
import type { Group } from "../nouns/group.ts";
import type { TeamContext } from "./context.ts";
import type { DevicesArguments } from "./device-arguments.ts";

export const toGroup = ({ id, name, created_at }: Group): object => ({
  ...{ id, name, createdAt: new Date(created_at).toISOString() },
  devices: (args: DevicesArguments, { devices }: TeamContext) =>
    devices.read({ ...args, filter: { ...args.filter, deviceGroupId: id } }),
});
