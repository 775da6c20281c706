/** `boxwright/pose`: keypoints of pose, face and hand networks. Importing it lets decoders read them. */
import { provideTask } from "../decode/tasks.ts";
import { poseInFile } from "../planfile/pose.ts";
import { poseReader } from "../tasks/pose/reader.ts";

export {
  BLAZEFACE6_NAMES,
  COCO17_EDGES,
  COCO17_NAMES,
  type Edges,
  FACE5_NAMES,
  PALM7_NAMES,
} from "../core/keypoints.ts";

provideTask({ ...poseReader, ...poseInFile });
