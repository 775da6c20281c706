/**
 * `import "boxwright/oriented"` lets every decoder read oriented boxes: `task: "oriented"`. Its functions compute with
 * such boxes.
 */
import { provideTask } from "../decode/tasks.ts";
import { ORIENTED } from "../tasks/oriented/reader.ts";
import { orientedInFile } from "../planfile/oriented.ts";

provideTask({ ...ORIENTED, ...orientedInFile });

export { type OrientedBox, cornersOf, fitCorners, regularise } from "../tasks/oriented/geometry.ts";
