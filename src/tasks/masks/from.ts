/** Makes masks without a decoder, from boxes and coefficients that other code has selected. */
import { checkInputSize } from "./over-image.ts";
import { refuse, refuseValue } from "../../core/errors.ts";
import { checkOptions, namesOnly } from "../../core/options.ts";
import { numbersOf } from "../../core/number.ts";
import { type TensorInput, type SlotArray, ELEMENTS, show, shape, specOf } from "../../core/tensor.ts";
import type { EngineName } from "../../core/engine-name.ts";
import { isInPixels } from "../../core/unit.ts";
import type { Mask, MaskOptions } from "../../decode/mask.ts";
import { type Frame, affineOf, checkFrame, uprightOf } from "../../decode/frame.ts";
import type { Placement } from "./axis.ts";
import { hasProportions, prototypesOf, typeProblem, prototypeViews } from "./plan.ts";
import { readMaskOptions } from "./rules.ts";
import { boxesOf, maskOfInput, sizesOf } from "./scene.ts";
import type { MaskSource } from "./source.ts";

/** Inputs of `masksOf`: prototypes of one image, and boxes with their coefficients. */
export interface MaskInputs {
  /** Prototypes of one image: [M,h,w] or [h,w,M]. A batch of one may precede these dimensions. */
  readonly prototypes: TensorInput;
  /** M raw values for each box. Pass them as the network outputs them, without a sigmoid. */
  readonly coefficients: ArrayLike<number>;
  /** x_min, y_min, x_max, y_max of each box, 0..1 across the frame's image, or the input without a frame. */
  readonly boxes: ArrayLike<number>;
  /** Width and height of the network's input in pixels. */
  readonly inputSize: readonly [number, number];
  /** Resize of the image to the input. */
  readonly frame?: Frame;
}

/**
 * Makes the masks of boxes that another decoder selected.
 * @throws TensorError for prototypes that do not fit the coefficients, RangeError for invalid options
 * @example
 * import { masksOf } from "boxwright";
 *
 * const prototypes = { data: [1, 1, -1, -1, 1, 1, -1, -1], dims: [1, 1, 2, 4] }; // one prototype, 4 x 2
 * const boxes = [0, 0, 1, 1];
 * const [mask] = masksOf({ prototypes, coefficients: [2], boxes, inputSize: [16, 8] }, { size: "prototype" });
 * console.log(mask.width, mask.height, [...mask.data]); // 4 2 [1,1,0,0,1,1,0,0]
 */
export function masksOf(
  inputs: MaskInputs,
  options?: MaskOptions & { readonly engine?: EngineName | "auto" },
): Mask[] {
  const {
    prototypes: tensor,
    coefficients,
    boxes,
    inputSize,
    frame,
  } = (inputs as MaskInputs | null) ?? ({} as MaskInputs);
  checkOptions(inputs ?? {}, INPUTS, { name: "inputs" });
  const spec = specOf("prototypes", tensor, {});
  for (const [name, list] of Object.entries({ coefficients, boxes }))
    if (typeof (list as ArrayLike<number> | undefined)?.length !== "number" || typeof list === "string")
      refuseValue(name, show(list), "an array of numbers");
  const problem = typeProblem(spec);
  if (problem) refuse('tensor "prototypes"', ...problem);
  checkNumbers("coefficients", coefficients);
  checkBoxes(boxes);
  checkInputSize(inputSize);
  const count = boxes.length / 4;
  const ways = prototypeViews(spec).filter(
    (seen) => seen.count * count === coefficients.length && seen.batch === 1,
  );
  if (count === 0) return [];
  if (ways.length !== 1)
    refuse(
      'tensor "prototypes"',
      `${shape(spec)} for ${coefficients.length / count} coefficients a box`,
      ways.length === 0 ? "as many prototypes as coefficients, of one image" : "order: NCHW or NHWC",
    );
  const prototypes = prototypesOf(ways[0], spec);
  const { width, height } = prototypes;
  const [inputWidth, inputHeight] = inputSize;
  if (width * inputWidth === height * inputHeight && width !== height)
    refuseValue(
      "inputSize",
      `[${inputSize.join(", ")}] for prototypes of ${width} x ${height}`,
      "[width, height], not height and width",
    );
  if (!hasProportions(prototypes, inputSize))
    refuseValue(
      'tensor "prototypes"',
      `${width} x ${height} for inputSize [${inputSize.join(", ")}]`,
      "prototypes with the proportions of the input",
    );
  if (frame) checkFrame(frame, inputSize);
  const upright = frame ? uprightOf(frame) : null;
  const [scaleX, scaleY, shiftX, shiftY] = upright ? affineOf(upright, inputSize) : [1, 1, 0, 0];
  const placement: Placement = { frame: upright, scale: [scaleX, scaleY], shift: [shiftX, shiftY] };
  const { engine = "auto", ...rest } = options ?? {};
  const source: MaskSource = {
    engine,
    prototypes,
    place: {
      bytes: bytesOf(spec.channels ? { ...tensor, data: numbersOf(spec, tensor.data) } : tensor, spec.type),
    },
    reportNaN: () => refuse('tensor "prototypes"', "NaN or infinite values", "finite ones"),
  };
  const wanted = readMaskOptions(rest, sizesOf({ source, placement, inputSize }));
  return Array.from({ length: count }, (_, i) => {
    const box = [0, 1, 2, 3].map((k) => boxes[4 * i + k]);
    const values = Float32Array.from(
      { length: prototypes.count },
      (__, k) => coefficients[i * prototypes.count + k],
    );
    return maskOfInput(source, placement, { ...boxesOf(box, placement), coefficients: values }, wanted);
  });
}

const INPUTS = /* @__PURE__ */ namesOnly("prototypes", "coefficients", "boxes", "inputSize", "frame");

function checkNumbers(name: string, list: ArrayLike<number>): void {
  for (let i = 0; i < list.length; i++)
    if (typeof list[i] !== "number" || !Number.isFinite(Math.fround(list[i])))
      refuseValue(`${name}[${i}]`, show(list[i]), "a finite number");
}

/** Throws for exchanged corners and for boxes in pixels, whose masks would be empty. */
function checkBoxes(boxes: ArrayLike<number>): void {
  if (boxes.length % 4 !== 0) refuseValue("boxes", `${boxes.length} numbers`, "four for each box");
  checkNumbers("boxes", boxes);
  for (let i = 0; i < boxes.length; i += 4) {
    const [x1, y1, x2, y2] = [boxes[i], boxes[i + 1], boxes[i + 2], boxes[i + 3]];
    const got = (): string => `${x1}, ${y1}, ${x2}, ${y2}`;
    if (x2 < x1 || y2 < y1)
      refuseValue(
        `box ${i / 4}`,
        got(),
        "corners x_min, y_min, x_max, y_max: no centre, no width and height",
      );
    if (isInPixels(x1, y1, x2, y2)) refuseValue(`box ${i / 4}`, got(), "0..1 across the image, not pixels");
  }
}

function bytesOf({ data }: TensorInput, type: keyof typeof ELEMENTS): Uint8Array {
  const { array } = ELEMENTS[type];
  const isView = ArrayBuffer.isView(data) && (data as SlotArray).BYTES_PER_ELEMENT === ELEMENTS[type].bytes;
  if (isView) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const values = data as ArrayLike<number>;
  const elements = new array(new ArrayBuffer(values.length * ELEMENTS[type].bytes), 0, values.length);
  for (let i = 0; i < values.length; i++) elements[i] = Number(values[i]);
  return new Uint8Array(elements.buffer);
}
