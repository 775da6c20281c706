/**
 * Golden tensors of each family that were damaged: columns and rows are missing or exchanged, outputs are exchanged,
 * stored in another order or quantised, boxes have another form or unit, scores another range, values are not finite.
 * Each ends in an error, in a note or in the result of the tensors as they were, and never in another result.
 */
import { expect, test } from "vitest";
import type { TypedOptions } from "../../src/config/types.ts";
import { createDecoderSync } from "../../src/entries/index.ts";
import { FAMILY_CASES } from "../support/damaged-families.ts";
import {
  type Columns,
  type Tensors,
  boxDamages,
  scoreDamages,
  shapelessDamages,
} from "../support/damages.ts";
import { readGoldenFamily } from "../support/golden-families.ts";
import { describeShared } from "../support/shared-data.ts";

/** Cases whose networks finish the list. */
const LISTS =
  /nms|mmdeploy|^yolonas-(flat|batch)$|^yolov7|^imx500$|^hailo|^dfine-post$|^maskrcnn$|^rtmdet-ins$|^rtmo$/;

/** Damage that leaves valid tensors of the family, or nothing that the tensors could tell, by case. */
const UNTOLD: readonly (readonly [cases: RegExp, damages: RegExp])[] = [
  // A picture on its side has such boxes. In a square input nothing else does.
  [/./, /^boxes: yxyx instead/],
  [/^(imx500|hailo-tf)$/, /^boxes: xyxy instead/],
  // A list of what the network found may hold any scores and any class, and may be empty.
  [LISTS, /^scores: one value$|: zeros$/],
  // Few rows, or rows of which most are sure.
  [
    /^(paddle-nms|mmdeploy-dets|yolonas-.*|yolov7-.*|maskrcnn|rtmdet-ins|rtmo)$/,
    /^scores: the sigmoid twice$/,
  ],
  // Two numbers and two sizes: too few of these boxes are turned around.
  [/^(maskrcnn|rtmdet-ins)$/, /^boxes: xywh instead/],
  // Queries and rows of a list have no neighbours. Columns of boxes differ, if there are some; those of classes do not.
  [/^(rfdetr|dfine-raw|rtdetr)/, /^boxes: (xyxy|xywh) instead|^(labels|logits): transposed|storage order/],
  [/^rfdetr-seg$/, /transposed values/],
  [/^(imx500|hailo-tf)$/, /transposed values$/],
  // Seeded values of these maps are noise, in which neighbours do not resemble each other.
  [/^rtmdet-maps/, /^bbox_pred_8: (transposed values|the other)/],
  [/^efficientdet-maps$/, /^(class_net_3|box_net_3|all): (transposed values|the other)/],
  [/^(centernet|face-det-lite)$/, /^(wh|reg|bbox|landmark|all): (transposed values|the other)/],
  [/^mediapipe-pose$/, /^(Identity_3|all): (transposed values|the other)/],
  // Not every export has offsets, world points or heat maps, and their values may be any.
  [/^centernet$/, /^reg: (zeros|missing)$/],
  [/^(mediapipe-(hand|pose)|recorded-pose)$/, /^Identity_3: (zeros|too large|Infinity|missing)$/],
  // A flag or the side of a hand may be any number; so may SimCC's scores.
  [/face-mesh$/, /^conv2d_31: (zeros|too large)$/],
  [/^(mediapipe-(hand|pose)|recorded-pose)$/, /^Identity_[12]: zeros$|exchanged$/],
  [/^rtmpose-simcc$/, /: too large$/],
];

/** Cases whose boxes are in pixels of the photo. */
const IN_PHOTO = /^(dfine-post|paddle-nms)$/;

interface Answer {
  readonly error: Error | null;
  readonly notes: readonly string[];
  readonly result: string;
}

describeShared("damaged golden tensors", (data) => {
  test.each(Object.keys(FAMILY_CASES))("%s", (name) => {
    const { fixture, outputs } = readGoldenFamily(data, name);
    const { width, height } = fixture.input;
    const { options, boxes = [], scores = [] } = FAMILY_CASES[name];
    const columns: Columns = { boxes, scores };
    const config = {
      ...options,
      ...(fixture.classes > 0 && { classes: fixture.classes }),
      inputSize: [width, height],
      confidenceThreshold: fixture.gate ?? 0.3,
    } as TypedOptions;
    const frame = IN_PHOTO.test(name) ? ({ width, height, resize: "stretch" } as const) : undefined;

    const decode = (tensors: Tensors): Answer => {
      const notes: string[] = [];
      try {
        const decoder = createDecoderSync(config, { onNote: (note) => notes.push(note) });
        const found =
          name === "yolov7-end2end" ? decoder.decodeBatch(tensors)[0] : decoder.decode(tensors, frame);
        // Masks are read on demand.
        if (found.length > 0 && /maskrcnn|seg|ins/.test(name)) found.mask(0, { size: "network" });
        const rounded = (_: string, x: unknown): unknown =>
          typeof x === "number" ? Number(x.toFixed(3)) : x;
        return { error: null, notes, result: JSON.stringify(found.toArray(), rounded) };
      } catch (thrown) {
        return { error: thrown as Error, notes, result: "" };
      }
    };

    const truth = decode(outputs);
    expect(truth.error).toBe(null);
    expect(truth.notes).toEqual([]);

    const isNchw = !/fomo|efficientdet|pose/.test(name);
    const silent = [
      ...shapelessDamages(outputs, isNchw),
      ...boxDamages(outputs, columns, [width, height]),
      ...scoreDamages(outputs, columns),
    ].flatMap(({ what, tensors }) => {
      const { error, notes, result } = decode(tensors);
      if (error) expect(["TensorError", "ConfigError"], `${what}: ${error.stack}`).toContain(error.name);
      const isTold = error !== null || notes.some((note) => !truth.notes.includes(note));
      return isTold || result === truth.result ? [] : [what];
    });
    const isUntold = (what: string): boolean =>
      UNTOLD.some(([cases, damages]) => cases.test(name) && damages.test(what));
    expect(silent.filter((what) => !isUntold(what))).toEqual([]);
  });
});
