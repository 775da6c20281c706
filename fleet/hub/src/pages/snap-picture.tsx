/** A picture of a snap with its detections over it. A script draws them; see public/snap.js. */
import { isObject } from "boxwright-service/schema/json";
import type { Snap, SnapFileRow } from "../nouns/snap-query.ts";

/** Detections that a picture shows at most. */
const MAX_SHOWN = 500;

/** Returns the detections of a snap's event as drawing takes them. What does not fit is left out: devices write it. */
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
  /** True for a list, where a picture is small and comes when it is looked at. */
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

/** The script that draws. A page has it once. */
export function PictureScript() {
  return <script type="module" src="/snap.js"></script>;
}
