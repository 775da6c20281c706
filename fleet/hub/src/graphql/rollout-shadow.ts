/** Resolvers of the shadow of a roll-out. */
import type { Assignment } from "../nouns/assignment.ts";
import { parseShadow, type GivenShadow } from "../nouns/shadow.ts";
import { agreementOf, readShadowResult, worstFirst, type ShadowVote } from "../nouns/shadow-report.ts";
import { isInShadow } from "../nouns/shadow-task.ts";
import type { TeamContext } from "./context.ts";
import { given } from "./mutation.ts";

/** Largest number of devices in one answer. */
const MOST_DEVICES = 1000;

type Nullable<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> | null };

/** Reads `RolloutShadowInput`. */
export function shadowOf(input: Nullable<GivenShadow> | null | undefined): GivenShadow | undefined {
  if (input === null || input === undefined) return undefined;
  return {
    ...{ sharePercent: given(input.sharePercent), every: given(input.every), snaps: given(input.snaps) },
    ...{ minAgreementPercent: given(input.minAgreementPercent), minFrames: given(input.minFrames) },
    maxSlowdownPercent: given(input.maxSlowdownPercent),
  };
}

/** Returns the shadow of an assignment's roll-out with its result, or null if the roll-out has no shadow. */
export async function toShadow(context: TeamContext, row: Assignment): Promise<object | null> {
  const shadow = parseShadow(row.shadow);
  if (shadow === undefined) return null;
  const { result, votes } = await readShadowResult(context, context.team.id, row, shadow);
  return {
    ...{ sharePercent: shadow.share, every: shadow.every, snaps: shadow.snaps },
    ...{ minAgreementPercent: shadow.min_agreement, minFrames: shadow.min_frames },
    maxSlowdownPercent: shadow.max_slowdown,
    isRunning: isInShadow(row),
    result: { ...result, memoryBytes: result.memory },
    devices: ({ first }: { first: number }) => {
      const shown = worstFirst(votes).slice(0, Math.max(0, Math.min(first, MOST_DEVICES)));
      context.values.count(shown.length);
      return shown.map(toVote);
    },
  };
}

function toVote({ device_id, at, state, message, report }: ShadowVote): object {
  return {
    ...{ deviceId: device_id, reportedAt: new Date(at).toISOString(), state: state.toUpperCase() },
    message: message === "" ? null : message,
    frames: report?.frames ?? 0,
    emptyFrames: report?.empty ?? 0,
    ...{ matched: report?.matched ?? 0, changed: report?.changed ?? 0 },
    ...{ onlyOld: report?.only_old ?? 0, onlyNew: report?.only_new ?? 0 },
    agreement: report === null ? null : agreementOf(report),
  };
}
