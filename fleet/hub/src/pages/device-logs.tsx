/** Section of a device's page with its logs. */
import type { Child } from "hono/jsx";
import { listLogs } from "../nouns/device-log.ts";
import type { DeviceState } from "../nouns/status.ts";
import { Ago } from "./ago.tsx";
import { PostForm, Submit } from "./forms.tsx";
import type { Member } from "./guards.tsx";
import { Machine } from "./layout.tsx";
import type { Site } from "./site.ts";

interface Shown {
  readonly id: string;
  readonly state: Pick<DeviceState, "log_requested_at" | "revoked_at"> | undefined;
}

export async function logSection({ db, now }: Site, { team }: Member, { id, state }: Shown): Promise<Child> {
  const logs = await listLogs(db, team.id, id);
  return (
    <>
      <h2>Log</h2>
      {logs.length === 0 && <p class="soft">None yet. A device sends its last lines after a failure, or when asked.</p>}
      {logs.map(({ received_at, reason, body }) => (
        <details>
          <summary>
            {reason === "failed" ? "After a failure" : "Asked for"}, <Ago at={received_at} now={now()} />
          </summary>
          <Machine title={`Log of ${new Date(received_at).toISOString()}`}>
            {body.split("\n").map(readableLine).join("\n")}
          </Machine>
        </details>
      ))}
      {state?.revoked_at === null && (
        <PostForm action={`/teams/${team.id}/devices/${encodeURIComponent(id)}/log`} class="line">
          <Submit>Ask for the log</Submit>
          {state.log_requested_at !== null && <span role="status">Asked. It comes after the next contact.</span>}
        </PostForm>
      )}
    </>
  );
}

/** Returns a line of a log for people: time, level, message, and the other fields as they are. */
function readableLine(line: string): string {
  let fields: Record<string, unknown> | null;
  try {
    fields = JSON.parse(line) as Record<string, unknown> | null;
  } catch {
    return line;
  }
  const { level, time, msg, ...rest } = fields ?? {};
  if (typeof time !== "string" || typeof msg !== "string") return line;
  const more = Object.keys(rest).length === 0 ? "" : ` ${JSON.stringify(rest)}`;
  return `${time.slice(0, 19).replace("T", " ")} ${String(level)}: ${msg}${more}`;
}
