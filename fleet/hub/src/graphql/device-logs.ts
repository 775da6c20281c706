/** Resolvers of logs of devices. */
import { listLogs, requestLog } from "../nouns/device-log.ts";
import type { TeamContext } from "./context.ts";
import { attempt, isNoText } from "./mutation.ts";

interface OfDevice {
  readonly deviceId: string;
}

/** Fields of `team` in a query. */
export const deviceLogQueries = ({ db, team, values }: TeamContext) => ({
  deviceLogs: async ({ deviceId }: OfDevice) => {
    const logs = isNoText(deviceId) ? [] : await listLogs(db, team.id, deviceId);
    values.count(logs.length);
    return logs.map(({ id, received_at, reason, body }) => ({
      ...{ id, receivedAt: new Date(received_at).toISOString(), reason: reason.toUpperCase(), text: body },
    }));
  },
});

/** Fields of `team` in a mutation. */
export const deviceLogMutations = ({ db, now, actor, team }: TeamContext) => ({
  requestDeviceLog: ({ deviceId }: OfDevice) =>
    attempt(async () => {
      await requestLog(db, { now: now(), actor, teamId: team.id }, deviceId);
      return {};
    }),
});
