import type { PrepareTask } from "../../decode/prepare.ts";
import { ruleOf, ruleText } from "../../picture/prepare/config-rule.ts";
import { prepareImage } from "../../picture/prepare/prepare.ts";

/**
 * `decoder.prepare`: from an image to the network's input tensor.
 * @example
 * import { createDecoderSync, prepare } from "boxwright/core";
 *
 * const decoder = createDecoderSync({ family: "yolov8", classes: 80, inputSize: [64, 64] }, { tasks: [prepare] });
 * const { tensor } = decoder.prepare({ data: new Uint8Array(32 * 16 * 4), width: 32, height: 16 });
 * console.log(tensor.dims.join()); // 1,3,64,64
 */
export const prepare: PrepareTask = { task: "prepare", prepareImage, ruleOf, ruleText };
