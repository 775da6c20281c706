/** Tasks of devices in a shadow: the devices that compare two versions, and the versions. */
import { placeInRollout, type Assignment } from "./assignment.ts";
import type { DesiredVersion } from "./desired.ts";
import { parseShadow, SHADOW_SHARE, type Shadow } from "./shadow.ts";

/** True while devices compare the two versions of a roll-out. */
export const isInShadow = ({ shadow, share, rollout_state }: Assignment): boolean =>
  shadow !== null && share === SHADOW_SHARE && rollout_state === "running";

/** Task of a device that compares two versions. */
export interface ShadowTask {
  readonly rolloutId: string;
  /** Number of the version in the shadow. The field `etag` has its ETag. */
  readonly number: number;
  readonly etag: string;
  readonly shadow: Shadow;
  /** Version that the device runs during the comparison. */
  readonly version: DesiredVersion;
}

/**
 * Returns the tasks of devices, by device id. If the share of a roll-out contains no device, one device compares, since
 * the roll-out would otherwise wait forever.
 */
export function shadowsOf(versions: ReadonlyMap<string, DesiredVersion>): Map<string, ShadowTask> {
  const rollouts = new Map<string, { readonly place: number; readonly id: string; readonly task: ShadowTask }[]>();
  for (const [id, version] of versions) {
    const { by, nextEtag } = version;
    if (!isInShadow(by) || nextEtag === null) continue;
    const rolloutId = by.rollout_id!;
    const task = { rolloutId, number: by.next_version!, etag: nextEtag, shadow: parseShadow(by.shadow)!, version };
    const list = rollouts.get(rolloutId) ?? [];
    list.push({ id, task, place: placeInRollout(id, rolloutId) });
    rollouts.set(rolloutId, list);
  }
  const found = new Map<string, ShadowTask>();
  for (const list of rollouts.values()) {
    const chosen = list.filter(({ place, task }) => place < task.shadow.share);
    const first = list.reduce((least, one) => (one.place < least.place ? one : least));
    for (const { id, task } of chosen.length > 0 ? chosen : [first]) found.set(id, task);
  }
  return found;
}

/** Returns a text that differs for different tasks, so that a device notices a new task. */
export const taskMark = ({ rolloutId, shadow, version }: ShadowTask): string =>
  `${rolloutId}.${shadow.every}.${shadow.snaps ? 1 : 0}.${version.number}`;
