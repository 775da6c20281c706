/** A picture of a snap. The script public/snap.js draws the detections over the picture. */
import { isObject } from "boxwright-service/schema/json";
import type { Snap, SnapFileRow } from "../nouns/snap-query.ts";

/** Largest number of detections that a picture shows. */
const MAX_SHOWN = 500;

/**
 * Returns the detections of a snap's event in the form that public/snap.js draws. Leaves out malformed detections,
 * since the event comes from a device.
 */
export function detectionsOf({ event }: Pick<Snap, "event">): Record<string, unknown>[] {
  const { data } = JSON.parse(event) as { data?: unknown };
  const list: unknown = isObject(data) ? data["detections"] : undefined;
  if (!Array.isArray(list)) return [];
  return list.filter(isDetection).slice(0, MAX_SHOWN);
}

const SIDES = ["x_min", "y_min", "x_max", "y_max"] as const;

function isDetection(given: unknown): given is Record<string, unknown> {
  if (!isObject(given)) return false;
  const isShare = (value: unknown): boolean => typeof value === "number" && value >= -1 && value <= 2;
  return SIDES.every((side) => isShare(given[side])) && typeof given["confidence"] === "number";
}

export interface PictureProps {
  readonly teamId: string;
  readonly snap: Snap;
  readonly file: SnapFileRow;
  /** True in a list, where pictures are small and load when they scroll into view. */
  readonly isSmall?: boolean;
}

export function Picture({ teamId, snap, file, isSmall = false }: PictureProps) {
  const detections = detectionsOf(snap);
  const labels = detections.flatMap(({ label }) => (typeof label === "string" && label !== "" ? [label] : []));
  const counts = [...new Set(labels)].map((label) => `${labels.filter((other) => other === label).length} ${label}`);
  const alt = counts.length === 0 ? `Snap ${snap.name}` : `Snap ${snap.name}: ${counts.join(", ")}`;
  return (
    <span class={isSmall ? "snap small" : "snap"}>
      <img src={`/teams/${teamId}/files/${file.id}`} alt={alt.slice(0, 300)} loading={isSmall ? "lazy" : "eager"} />
      <canvas data-detections={JSON.stringify(detections)} aria-hidden="true"></canvas>
      <span class="bad" role="status"></span>
    </span>
  );
}

/** The script that draws detections. A page with pictures includes the script once. */
export function PictureScript() {
  return <script type="module" src="/snap.js"></script>;
}
