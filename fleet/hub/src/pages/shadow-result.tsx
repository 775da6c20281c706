/** The result of a roll-out's shadow: figures, the devices with the lowest agreement, and snaps of disagreements. */
import { SHADOW_EXTRA, SHADOW_SNAP } from "boxwright-service/schema/shadow";
import type { Assignment } from "../nouns/assignment.ts";
import { parseShadow, type Shadow } from "../nouns/shadow.ts";
import {
  agreementOf,
  percentText,
  readShadowResult,
  worstFirst,
  type Pair,
  type ShadowResult,
  type ShadowVote,
} from "../nouns/shadow-report.ts";
import { isInShadow } from "../nouns/shadow-task.ts";
import { findSnaps, type Snap } from "../nouns/snap-query.ts";
import { countText } from "./ago.tsx";
import { Facts } from "./layout.tsx";
import type { Site } from "./site.ts";
import { Snaps } from "./snaps.tsx";

/** Largest number of devices, and largest number of snaps, that the page shows. */
const [MOST_DEVICES, MOST_SNAPS] = [10, 6];

interface ShadowShown {
  readonly result: ShadowResult;
  readonly shadow: Shadow;
  readonly isRunning: boolean;
  /** Votes of the devices with the lowest agreement. */
  readonly votes: readonly ShadowVote[];
  /**
   * Snaps of disagreements, the newest first. A device sends a snap only if the disagreement is larger than all earlier
   * ones.
   */
  readonly snaps: readonly Snap[];
}

/** Reads the shadow of each roll-out with a shadow. */
export async function shadowsShown(
  site: Site,
  teamId: string,
  assignments: readonly Assignment[],
): Promise<Map<Assignment, ShadowShown>> {
  const found = new Map<Assignment, ShadowShown>();
  for (const row of assignments) {
    const shadow = parseShadow(row.shadow);
    if (shadow === undefined || row.rollout_id === null) continue;
    const { result, votes } = await readShadowResult(site, teamId, row, shadow);
    const filter = { names: [SHADOW_SNAP], extras: [{ key: SHADOW_EXTRA, value: row.rollout_id }] };
    const snaps = shadow.snaps ? await findSnaps(site.db, teamId, filter, { limit: MOST_SNAPS }) : [];
    found.set(row, {
      ...{ shadow, snaps, result, isRunning: isInShadow(row) },
      votes: worstFirst(votes).slice(0, MOST_DEVICES),
    });
  }
  return found;
}

const percent = (share: number | null): string => (share === null ? "not known yet" : percentText(share));

function pairText({ old, new: next }: Pair, show: (value: number) => string): string {
  if (old === null && next === null) return "not known yet";
  const text = (value: number | null): string => (value === null ? "none" : show(value));
  return `${text(old)} before, ${text(next)} now`;
}

interface Shown {
  /** Undefined if the roll-out has no shadow. */
  readonly shown: ShadowShown | undefined;
  readonly teamId: string;
  /** Names of devices, by their id. */
  readonly names: ReadonlyMap<string, string>;
}

export function ShadowResultParts({ shown, teamId, names }: Shown) {
  if (shown === undefined) return <></>;
  const { shadow, result, votes, snaps, isRunning } = shown;
  const { devices, reported, failed, refused } = result;
  const nameOf = (id: string): string => names.get(`device:${id}`) ?? id;
  const ofBefore = result.slowdown === null ? "" : " of before";
  const rows = [
    ["Devices", `${reported} of ${countText(devices, "device")} reported`],
    ["Frames with boxes", `${result.frames}, ${shadow.min_frames} are needed`],
    ["Boxes that agree", `${percent(result.agreement)}, ${shadow.min_agreement} % are needed`],
    ["Boxes of another class", percent(result.changed)],
    ["Time of a frame", `${percent(result.slowdown)}${ofBefore}, at most ${100 + shadow.max_slowdown} %`],
    ["Mean confidence", pairText(result.confidence, (value) => value.toFixed(3))],
    ["Time to decode", pairText(result.decodeMs, (value) => `${value.toFixed(2)} ms`)],
    ["Memory of the process", pairText(result.memory, (value) => `${Math.round(value / 1e6)} MB`)],
    ["Cannot run it", failed > 0 && countText(failed, "device")],
    ["Reports that do not fit", refused > 0 && countText(refused, "device")],
  ] as const;
  return (
    <details open={isRunning} class="whole">
      <summary>
        {isRunning ? "In shadow" : "Shadow"}:{" "}
        {result.agreement === null ? "nothing compared yet" : `${percentText(result.agreement)} agree`}
      </summary>
      <Facts rows={rows} />
      {votes.length > 0 && (
        <ul aria-label="Devices that agree least">
          {votes.map(({ device_id, state, message, report }) => (
            <li>
              <a href={`/teams/${teamId}/devices/${device_id}`}>{nameOf(device_id)}</a>:{" "}
              {state === "comparing" ? (
                `${percent(report === null ? null : agreementOf(report))} in ${countText(report?.frames ?? 0, "frame")}`
              ) : (
                <span class="bad">{message === "" ? state : message}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      <Snaps {...{ snaps, label: "Disagreements", teamId, nameOf }} />
    </details>
  );
}
