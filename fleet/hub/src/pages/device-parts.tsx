/** Parts of a device's page: last report, history and last picture. */
import type { Heartbeat, Problem } from "boxwright-service/schema/protocol";
import { CLOCK_DIFFERENCE_MS, statusChangedAt, type DeviceState, type Hour } from "../nouns/status.ts";
import { Ago, durationText, countText } from "./ago.tsx";
import { Status } from "./device-items.tsx";
import { Facts } from "./layout.tsx";

const MEGABYTE = 2 ** 20;
const megabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(1)} MB`;
const milliseconds = (value: number | null): string => (value === null ? "none" : `${value.toFixed(1)} ms`);

/** From this number of frames on, the slow first frames no longer affect the median. */
const FEW_FRAMES = 30;

/** Returns the text about the time of decoding. If a device sends tensors, its host decodes. */
function decodingText({ decode_ms: { p50, p99 }, frames }: Heartbeat): string {
  if (p50 === null || p99 === null) return "none on the device so far";
  const note = frames < FEW_FRAMES ? `; of ${countText(frames, "frame")} since the start, and the first are slow` : "";
  return `${milliseconds(p50)} median, ${milliseconds(p99)} p99${note}`;
}

/** Status of a device that has enrolled. */
export function StatusFacts({ state, now }: { readonly state: DeviceState; readonly now: number }) {
  const beat = state.report === null ? undefined : (JSON.parse(state.report) as Heartbeat);
  const since = state.revoked_at ?? statusChangedAt(state, now);
  const offset = state.clock_difference;
  return (
    <Facts
      rows={[
        [
          "Status",
          <>
            <Status state={state} now={now} />
            {since !== null && <> for {durationText(now - since)}</>}
          </>,
        ],
        ["Last contact", state.last_contact_at === null ? "none yet" : <Ago at={state.last_contact_at} now={now} />],
        ["Clock", offset !== null && Math.abs(offset) > CLOCK_DIFFERENCE_MS && <Clock offset={offset} />],
        ["Model", state.model],
        ["Architecture", state.architecture],
        ["Serial number", state.serial_number],
        ["Agent", state.version],
        ["Application", <ApplicationText state={state} />],
        ["Version", state.application_version],
        ["Last error", beat && lastErrorText(state, beat)],
        ["Frames", beat && `${beat.frames.toLocaleString("en")} since its agent started`],
        ["Dropped", beat && `${beat.dropped.toLocaleString("en")} dropped, ${beat.lost.toLocaleString("en")} lost`],
        ["Decoding", beat && decodingText(beat)],
        ["Waiting", beat && spoolText(beat.spool)],
        ["Network", beat?.network_interfaces && networkText(beat.network_interfaces)],
      ]}
    />
  );
}

/**
 * Returns the text about the last error of a heartbeat. A device reports on a version as soon as the version runs. So a
 * heartbeat that names another version is older, and its error may be over.
 */
function lastErrorText(state: DeviceState, { last_error, application }: Heartbeat): string | null {
  if (last_error == null) return null;
  const isOlder = application.version !== state.application_version || application.state !== state.application_state;
  return isOlder ? `${last_error} (said before it reported on its version)` : last_error;
}

function ApplicationText({ state }: { state: DeviceState }) {
  const { application, application_state, application_error } = state;
  const problem = application_error === null ? undefined : (JSON.parse(application_error) as Problem);
  return (
    <>
      {application ?? "none"}
      {application_state === "failed" && (
        <span class="block bad">failed{problem !== undefined && `: ${problem.message || problem.code}`}</span>
      )}
    </>
  );
}

function Clock({ offset }: { offset: number }) {
  return (
    <strong class="bad">
      {durationText(Math.abs(offset))} {offset > 0 ? "ahead" : "behind"}
    </strong>
  );
}

/**
 * Returns the text about the spool. A spool file is deleted after its last frame is delivered, so the bytes of the
 * files include delivered frames.
 */
function spoolText({ bytes, limit, frames }: Heartbeat["spool"]): string {
  const share = limit === 0 ? "" : ` (${Math.round((100 * bytes) / limit)} %)`;
  return `${frames.toLocaleString("en")} frames; files of the spool: ${megabytes(bytes)} of ${megabytes(limit)}${share}`;
}

function networkText(all: NonNullable<Heartbeat["network_interfaces"]>): string {
  return all.map(({ name, ipv4, mac }) => [name, ipv4, mac].filter((part) => part !== "").join(" ")).join(", ");
}

/**
 * Link to the host's page about the device. If `isFramed`, also this page in a frame: the last picture with its boxes.
 */
export function LastPicture({ address, isFramed }: { address: string; isFramed: boolean }) {
  return (
    <>
      <p>
        <a href={address} rel="noreferrer">
          Page of this device on its host
        </a>
      </p>
      {isFramed && <iframe class="picture" title="Last picture and detections" src={framed(address)} loading="lazy" />}
    </>
  );
}

function framed(address: string): string {
  const url = new URL(address);
  url.searchParams.set("framed", "");
  return url.href;
}

/** True if a page of this hub can show the host's page in a frame. Browsers allow no http page inside an https page. */
export function mayFrame(address: string, baseUrl: string): boolean {
  return address.startsWith("https:") || baseUrl.startsWith("http:");
}

const BAR_HEIGHT = 40;
/** Smallest height of a bar, so that an hour with one contact is visible. */
const LEAST_HEIGHT = 3;
const DAYS = 30;
export const HISTORY_HOURS = DAYS * 24;
const HOUR_MS = 3_600_000;
/** Number of hours in the table. */
const TABLE_HOURS = 24;

/** Contacts per hour: bars, and a table of the last day. */
export function History(props: { hours: readonly Hour[]; now: number; beatSeconds: number }) {
  const { hours, now, beatSeconds } = props;
  if (hours.length === 0) return <p class="soft">No contact in the last {DAYS} days.</p>;
  const last = Math.floor(now / HOUR_MS);
  // Number of contacts in a full bar: every heartbeat of the hour came.
  const full = 3600 / beatSeconds;
  const bars = hours.map(({ hour, contacts }) => {
    const height = Math.max(LEAST_HEIGHT, Math.round((BAR_HEIGHT * Math.min(contacts, full)) / full));
    return `M${HISTORY_HOURS - 1 - (last - hour)} ${BAR_HEIGHT}v-${height}h1v${height}z`;
  });
  const total = hours.reduce((sum, { contacts }) => sum + contacts, 0);
  const table = hours.filter(({ hour }) => hour > last - TABLE_HOURS).reverse();
  return (
    <>
      <svg
        class="bars"
        viewBox={`0 0 ${HISTORY_HOURS} ${BAR_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Contacts by the hour: ${total.toLocaleString("en")} in ${DAYS} days`}
      >
        <path d={bars.join("")} />
      </svg>
      <p class="soft scale">
        <span>{DAYS} days ago</span>
        <span>{countText(total, "contact")}, by the hour</span>
        <span>now</span>
      </p>
      {table.length > 0 && (
        <details>
          <summary>The last day as a table</summary>
          <table>
            <thead>
              <tr>
                {["Hour (UTC)", "Contacts", "Restarts", "Slowest decode", "Dropped"].map((name) => (
                  <th scope="col">{name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {table.map(({ hour, contacts, restarts, worst_p99, drops }) => (
                <tr>
                  <th scope="row">{new Date(hour * HOUR_MS).toISOString().slice(11, 16)}</th>
                  {[contacts, restarts, milliseconds(worst_p99), drops].map((value) => (
                    <td>{value}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </>
  );
}
