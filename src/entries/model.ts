/** `boxwright/model`: reads a network's own file (ONNX, TFLite, NN Archive) into what `createDecoder` takes. */
export { type ReadModelOptions, readModel } from "../config/model/model.ts";
export type { Unxz } from "../config/model/archive.ts";
export type { Model, ModelFormat, ModelInput, ModelTensor, Quantisation } from "../config/model/types.ts";
export type { Exporter, Task } from "../core/exporters.ts";
export { ConfigError, type ConfigProblem } from "../core/errors.ts";
export type { Family } from "../core/families.ts";
export type { TypedOptions } from "../config/types.ts";
