import type { Config } from "./types.ts";

/**
 * Returns the config of a file that states nothing. The reader of each format overwrites the fields that its file
 * states.
 */
export function defaultConfig(format: Config["format"]): Config {
  return {
    format,
    outputFormat: null,
    decodes: true,
    note: null,
    kind: null,
    family: null,
    subtype: null,
    modelName: null,
    classes: null,
    labels: null,
    inputSize: null,
    confidenceThreshold: 0.5,
    iouThreshold: 0.5,
    maxDetections: 300,
    anchorSets: null,
    strides: null,
    scaleXY: null,
    scores: null,
    reading: null,
    boxFormat: null,
    coordinates: null,
    priors: null,
    priorFormat: null,
    background: null,
    variances: null,
    scalesGiven: false,
    keep: null,
    prepare: null,
    picture: null,
    outputs: null,
    headOutputs: null,
    roles: null,
    task: null,
    suppression: null,
    ruleSet: "depthai",
    rules: {},
  };
}

/** Returns a config with the defaults of typed options and of model files. */
export const typedDefaults = (): Config => ({
  ...defaultConfig("options"),
  confidenceThreshold: 0.25,
  iouThreshold: 0.45,
  ruleSet: "ultralytics",
});
