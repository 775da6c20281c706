/**
 * `import "boxwright/oriented"` lets every decoder read oriented boxes: `task: "oriented"`. Its functions compute with
 * such boxes.
 */
import { provideTask } from "../decode/tasks.ts";
import { ORIENTED } from "../oriented/reader.ts";

provideTask(ORIENTED);

export { type OrientedBox, cornersOf, fitCorners, regularise } from "../oriented/geometry.ts";
