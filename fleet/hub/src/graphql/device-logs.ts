/** Resolvers of logs of devices. */
import { listLogs, requestLog } from "../nouns/device-log.ts";
import type { TeamContext } from "./context.ts";
import { iso } from "./times.ts";
import { isNoText } from "./mutation.ts";

interface OfDevice {
  readonly deviceId: string;
}

/** Fields of `team` in a query. */
export const deviceLogQueries = ({ db, team, values }: TeamContext) => ({
  deviceLogs: async ({ deviceId }: OfDevice) => {
    const logs = isNoText(deviceId) ? [] : await listLogs(db, team.id, deviceId);
    values.count(logs.length);
    return logs.map(({ id, received_at, reason, body }) => ({
      ...{ id, receivedAt: iso(received_at), reason: reason.toUpperCase(), text: body },
    }));
  },
});

/** Fields of `team` in a mutation. */
export const deviceLogMutations = ({ db, change }: TeamContext) => ({
  requestDeviceLog: async ({ deviceId }: OfDevice) => {
    await requestLog(db, change(), deviceId);
    return {};
  },
});
