/** Turns the results of an upright picture back to the camera's picture. */
import { type QuarterTurns, turnBoxes, turnPoints, turnsBack } from "../core/turn.ts";
import { type Detections, CORNER_VALUES } from "./detections.ts";

/** Count of values of a keypoint: x, y and confidence. */
const KEYPOINT_VALUES = 3;

/** Turns boxes, keypoints and corners back in place. Tasks turn angles; masks are turned when made. */
export function turnBack(detections: Detections, rotation: QuarterTurns): void {
  const turns = turnsBack(rotation);
  const { length, boxes, keypoints, corners, scores } = detections;
  turnBoxes(boxes, length, turns);
  const rows = scores.length;
  if (keypoints && rows > 0)
    turnPoints(keypoints, (keypoints.length / rows) * length, KEYPOINT_VALUES, turns);
  if (corners) turnPoints(corners, length * CORNER_VALUES, 2, turns);
}
