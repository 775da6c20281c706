/** Detects pictures whose bytes have another layout than stated, and a frame that was not passed to `decode`. */
import { type Frame, affineOf } from "../decode/frame.ts";
import type { ImageInput } from "../decode/prepare.ts";
import type { Check, Moment } from "./check.ts";

/** Count of pictures that are checked, without blank ones. All pictures of a stream have the same layout. */
const PICTURES = 3;
/** Length of one sample in bytes. */
const RUN = 96;
/** Count of samples, spread over the picture. */
const RUNS = 64;
/** A picture is blank if neighbouring bytes differ less than this on average. Blank pictures are not checked. */
const FLAT = 0.5;

/** Makes the check of a picture's bytes. */
export function pictureCheck(): Check {
  let remaining = PICTURES;
  const run = ({ picture }: Moment): string | null => {
    if (remaining === 0 || picture === null) return null;
    const samples = samplesOf(picture.data);
    if (isBlank(samples)) return null;
    remaining--;
    return noteOfPicture(picture, samples);
  };
  return ["picture", "picture", run];
}

/** True if a picture has too little contrast for a conclusion. */
const isBlank = ({ most, steps }: Samples): boolean =>
  most === 0 || steps.every((step) => step < FLAT && most > 1);

function noteOfPicture(image: ImageInput, { most, steps, pixels }: Samples): string | null {
  if (areSidesExchanged(image))
    return (
      `neighbouring rows of the picture differ less if it is ${image.height}x${image.width} than if it is ` +
      `${image.width}x${image.height}: are width and height exchanged?`
    );
  if (most === 1)
    return "every byte of the picture is 0 or 1: were its values floats of 0..1 before? Pass bytes of 0..255";
  const isThree = image.format === "rgb" || image.format === "bgr" || image.channels === 3;
  return isThree && lookLikePlanes(steps, pixels)
    ? "the bytes of the picture look like planes, one for each colour, and are read as " +
        `"${image.format ?? "rgb"}", three bytes a pixel: bring them into the order of height, width, channels`
    : null;
}

/** Returns a note about candidates that were decoded without the frame that `prepare` returned last. */
export function noteOfForgotten({ prepared, inputSize, frame }: Moment): string | null {
  if (frame !== undefined || prepared === null || fillsInput(prepared, inputSize)) return null;
  const { width, height, resize } = prepared;
  return (
    `prepare() returned a frame (${width}x${height}, "${resize}"), and decode() got none: boxes are ` +
    "0..1 of the network's input, not of the picture. Pass it: decode(outputs, frame)"
  );
}

/** Returns a note if a frame with the sides of the prepared picture contradicts the frame of `prepare`. */
export function noteOfContradiction({ isOfPrepared, prepared, inputSize, frame }: Moment): string | null {
  if (!isOfPrepared || !prepared || !frame) return null;
  if ([prepared, frame].some(({ rotation, crop }) => rotation || crop)) return null;
  const { width, height, resize } = prepared;
  const about =
    `prepare() returned a frame (${width}x${height}, "${resize}"), and decode() got another one ` +
    `(${frame.width}x${frame.height}, "${frame.resize}")`;
  const advice = "Pass the one that prepare() returned: decode(outputs, frame)";
  if (width !== height && frame.width === height && frame.height === width)
    return `${about}: are width and height exchanged? ${advice}`;
  if (frame.width !== width || frame.height !== height) return null;
  // Use no callback that reads variables of this function: the call would make garbage, even if it returns early.
  return areApart(affineOf(prepared, inputSize), affineOf(frame, inputSize))
    ? `${about}: boxes are moved or stretched. ${advice}`
    : null;
}

/** Largest shift that rounding may cause, as a fraction of the picture. */
const LEAST_SHIFT = 0.02;

const areApart = (a: readonly number[], b: readonly number[]): boolean =>
  a.some((value, i) => Math.abs(value - b[i]) > LEAST_SHIFT);

/** True if 0..1 of the input is 0..1 of the picture: there is no padding, rotation or crop. */
function fillsInput({ placed, rotation, crop }: Frame, [width, height]: readonly [number, number]): boolean {
  if (rotation || crop) return false;
  return !placed || (placed[0] === 0 && placed[1] === 0 && placed[2] === width && placed[3] === height);
}

interface Samples {
  /** Largest byte in the samples. */
  readonly most: number;
  /** Mean difference between a byte and the next byte, for each of the three positions of a byte in its pixel. */
  readonly steps: readonly [number, number, number];
  /** Mean difference between a byte and the byte three places later. */
  readonly pixels: number;
}

function samplesOf(data: ImageInput["data"]): Samples {
  const steps: [number, number, number] = [0, 0, 0];
  let most = 0;
  let pixels = 0;
  let count = 0;
  const apart = Math.max(RUN, Math.floor((data.length - 3) / RUNS));
  for (let run = 0; run + 3 < data.length; run += apart) {
    // Begin each sample at a whole pixel of three bytes.
    const start = run - (run % 3);
    const end = Math.min(start + RUN, data.length - 3);
    for (let i = start; i < end; i++, count++) {
      const value = data[i];
      if (value > most) most = value;
      steps[i % 3] += Math.abs(data[i + 1] - value);
      pixels += Math.abs(data[i + 3] - value);
    }
  }
  const third = Math.max(1, count / 3);
  return {
    most,
    steps: [steps[0] / third, steps[1] / third, steps[2] / third],
    pixels: pixels / Math.max(1, count),
  };
}

/** Ratio from which bytes one stated row apart differ too much, compared with bytes one stated height apart. */
const UNRELATED = 2;
/** A picture is too smooth for a conclusion if the mean difference of its rows in bytes is below this value. */
const SMOOTH = 2;

/** True if bytes one stated height apart differ less than bytes one stated width apart: the rows seem that long. */
function areSidesExchanged({ data, width, height, stride }: ImageInput): boolean {
  const pixel = Math.floor(data.length / (width * height));
  if (width === height || stride !== undefined || pixel < 1) return false;
  const [row, exchanged] = [width * pixel, height * pixel];
  const end = row * height - Math.max(row, exchanged);
  let [atRow, atExchanged] = [0, 0];
  const apart = Math.max(RUN, Math.floor(end / RUNS));
  let count = 0;
  for (let run = 0; run < end; run += apart)
    for (let i = run; i < Math.min(run + RUN, end); i++, count++) {
      atRow += Math.abs(data[i + row] - data[i]);
      atExchanged += Math.abs(data[i + exchanged] - data[i]);
    }
  // Only this fraction of the byte pairs one height apart lies in different rows. The other pairs are alike if each row
  // has one colour.
  const differing = Math.min(1, height / width);
  return atRow > SMOOTH * count && atExchanged * UNRELATED < atRow * differing;
}

/** True if the bytes look like colour planes: neighbours differ equally at all three positions of a pixel. */
function lookLikePlanes(steps: Samples["steps"], pixels: number): boolean {
  const [least, , largest] = [...steps].sort((a, b) => a - b);
  return least > FLAT && largest < least * 1.2 && largest < pixels * 0.8;
}
