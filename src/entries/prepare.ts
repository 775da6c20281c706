/** `boxwright/prepare`: from an image to a network's input tensor. Importing it lets `decoder.prepare` work. */
import { providePrepare } from "../decode/prepare.ts";
import { ruleOf, ruleText } from "../picture/prepare/config-rule.ts";
import { prepareImage } from "../picture/prepare/prepare.ts";

export { prepareImage };
export type { Frame } from "../decode/frame.ts";
export type { ImageFormat, ImageInput, PrepareOptions, Prepared, PreparedData } from "../decode/prepare.ts";
export type { PrepareResize, PrepareRule, Resample } from "../core/prepare-rule.ts";
export type { EngineName } from "../core/engine-name.ts";

providePrepare({ prepareImage, ruleOf, ruleText });
