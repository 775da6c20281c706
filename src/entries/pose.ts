/** `boxwright/pose`: keypoints of pose, face and hand networks. Importing it lets decoders read them. */
import { provideTask } from "../decode/tasks.ts";
import { poseInFile } from "../planfile/pose.ts";
import { poseReader } from "../tasks/pose/reader.ts";

export type { Crop } from "../core/crop.ts";
export {
  BLAZEFACE6_NAMES,
  BODY33_EDGES,
  BODY33_NAMES,
  COCO17_EDGES,
  COCO17_NAMES,
  type Edges,
  FACE5_NAMES,
  HAND21_EDGES,
  HAND21_NAMES,
  PALM7_NAMES,
  PERSON4_NAMES,
} from "../core/keypoints.ts";
export { type ImageSize, cropOf, nextCropOf } from "../tasks/pose/crop/of.ts";

provideTask({ ...poseReader, ...poseInFile });
