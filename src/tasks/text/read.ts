/** Finds the map of text probabilities among the tensors. */
import { refuseFor } from "../../core/errors.ts";
import { type TensorSpec, list } from "../../core/tensor.ts";
import { buildInterpretation } from "../../heads/build.ts";
import type { Interpretation, Specs } from "../../heads/head.ts";
import { mayPlay } from "../../heads/match.ts";
import type { HeadQuery } from "../../heads/query.ts";
import type { TextPlan } from "./plan.ts";

interface TextMap {
  readonly index: number;
  readonly batch: number;
  readonly width: number;
  readonly height: number;
}

/** Returns every interpretation of the tensors. Throws a TensorError with the expected shapes if there is none. */
export function readText(query: HeadQuery, specs: Specs): readonly Interpretation[] {
  const maps = specs.flatMap((spec, index) =>
    mayPlay(query, "scores", spec.name) ? mapsIn(spec, index) : [],
  );
  const { inputSize } = query;
  const ofInput = maps.filter(
    ({ width, height }) => !inputSize || width * inputSize[1] === height * inputSize[0],
  );
  if (ofInput.length === 0)
    refuseFor(
      inputSize ? ["inputSize", "roles"] : ["roles"],
      "text",
      list(specs),
      "one map of text probabilities, " +
        `[1,1,h,w]${inputSize ? `, in the proportions of the input ${inputSize.join("x")} (width x height)` : ""}`,
    );
  return ofInput.map((map) => interpretationOf(query, specs, map));
}

/** Returns the map in a tensor [N,1,h,w], [N,h,w,1] or [1,h,w]. */
function mapsIn({ dims }: TensorSpec, index: number): TextMap[] {
  const [batch, a, b, c] = dims;
  if (dims.includes(0)) return [];
  if (dims.length === 3 && batch === 1) return [{ index, batch: 1, width: b, height: a }];
  if (dims.length !== 4) return [];
  if (a === 1) return [{ index, batch, width: c, height: b }];
  return c === 1 ? [{ index, batch, width: b, height: a }] : [];
}

function interpretationOf(query: HeadQuery, specs: Specs, map: TextMap): Interpretation {
  const { index, batch, width, height } = map;
  const { name, dims } = specs[index];
  const column = { tensor: index, offset: 0, channel: 1, cell: width * height };
  const interpretation = buildInterpretation(
    { ...query, classes: 1 },
    {
      name: "text-map",
      title: "probability that a pixel belongs to a text",
      usual: null,
      // A head needs a box and a score. Use the first pixel for both, since the task makes all boxes.
      fields: () => ({ kind: "centre", boxChannels: [0, 0, 0, 0], unit: [1, 1] }),
      matches: [
        {
          tensors: [{ index, name, dims, layout: "rows", parts: ["scores"] }],
          anchor: null,
          rows: null,
          view: { batch, cells: 1, channel: 1, cell: width * height, layout: "rows", w: 0, h: 0 },
          box: column,
          score: column,
          objectness: null,
        },
      ],
      // PaddleOCR's networks accept pictures of any size. The map has the size of the input.
      inputSize: query.inputSize ?? [width, height],
    },
  );
  const rule = query.task?.textRule ?? "paddleocr";
  const maskThreshold = query.task?.maskThreshold ?? (rule === "depthai" ? 0.25 : 0.3);
  const unclipRatio = query.task?.unclipRatio ?? 1.5;
  const words =
    rule === "depthai"
      ? "as PPTextDetectionParser of depthai-nodes"
      : `as DBPostProcess of PaddleOCR, grown by ratio ${unclipRatio}`;
  const task: TextPlan = {
    name: "text",
    about: `text: turned boxes around pixels above ${maskThreshold} in a ${width}x${height} map, ${words}`,
    tensors: [],
    notInFiles: true,
    settings: { rule, maskThreshold, unclipRatio },
    width,
    height,
  };
  return { ...interpretation, task };
}
