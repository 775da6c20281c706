/** Reads the boxes from HailoRT's buffers: rows by class, rows by score, or TensorFlow's planes. */
import { refuse, refuseFor } from "../core/errors.ts";
import { SLACK } from "../core/row-orders.ts";
import { shape, type TensorSpec } from "../core/tensor.ts";
import type { Rows } from "./row-values.ts";

const classesAsked = (spec: TensorSpec): never =>
  refuseFor(
    ["classes", "labels"],
    shape(spec),
    "a buffer by class and no number of classes",
    "classes, or labels",
  );

/** Reads NMS_BY_CLASS: for each class, a count and the rows. Bytes after the last class are old memory. */
export function byClass(spec: TensorSpec, values: ArrayLike<number>, classes: number | null): Rows {
  if (classes === null) return classesAsked(spec);
  const batch = spec.dims.length > 1 ? spec.dims[0] : 1;
  const length = values.length / batch;
  const most = (length / classes - 1) / 5;
  if (!Number.isInteger(most) || most < 1)
    refuseFor(
      ["classes"],
      shape(spec),
      `${length} numbers for ${classes} classes`,
      "for each class a count and as many rows of five: C (1 + 5 max)",
    );
  return collect(spec, batch, (image, add) => {
    let at = image * length;
    for (let id = 0; id < classes; id++) {
      const n = values[at++];
      if (!Number.isInteger(n) || n < 0 || n > most)
        refuse(
          shape(spec),
          `count ${n} of class ${id}`,
          `a whole number in 0..${most}: are there ${classes} classes?`,
        );
      for (let i = 0; i < n; i++, at += 5)
        add(values[at], values[at + 1], values[at + 2], values[at + 3], values[at + 4], id);
    }
  });
}

/** Reads pyhailort's tf_nms_format [B,C,5,max]. Entries with a score of 0 are empty. */
export function fromPlanes(spec: TensorSpec, values: ArrayLike<number>, classes: number | null): Rows {
  const [batch, count, , most] = spec.dims;
  if (classes !== null && classes !== count)
    refuseFor(["classes"], shape(spec), `${count} classes`, `${classes}, as the config says`);
  return collect(spec, batch, (image, add) => {
    for (let id = 0; id < count; id++) {
      const at = (image * count + id) * 5 * most;
      for (let i = 0; i < most; i++) {
        const [a, b, c, d, score] = [0, 1, 2, 3, 4].map((k) => values[at + k * most + i]);
        if (score !== 0) add(a, b, c, d, score, id);
      }
    }
  });
}

/** Byte length of a record: five f32 and a u16 class id. */
const RECORD = 22;

/** Byte length of a record with a mask: the plain record, the mask's size, a pointer, the mask's offset. */
const MASK_RECORD = 46;

/** True if a buffer holds records with masks. Each mask must lie after all records, and after the previous mask. */
function holdsMasks(view: DataView, length: number): boolean {
  const n = view.getUint16(0, true);
  let end = 2 + n * MASK_RECORD;
  if (n === 0 || end > length) return false;
  for (let at = 2; at < 2 + n * MASK_RECORD; at += MASK_RECORD) {
    const size = Number(view.getBigUint64(at + RECORD, true));
    const place = Number(view.getBigUint64(at + MASK_RECORD - 8, true));
    if (place < end || size === 0 || place + size > length) return false;
    end = place + size;
  }
  return true;
}

/** Reads NMS_BY_SCORE: a u16 count, then packed records of five f32 and a u16 class id. */
export function byScore(spec: TensorSpec, data: Uint8Array): Rows {
  const batch = spec.dims.length > 1 ? spec.dims[0] : 1;
  const length = data.length / batch;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (holdsMasks(view, length))
    refuse(
      shape(spec),
      "records with masks, HailoRT's NMS_WITH_BYTE_MASK",
      "HAILO_NMS_BY_SCORE or HAILO_NMS_BY_CLASS as the format of the output: these masks are not read",
    );
  const most = (length - 2) / RECORD;
  if (!Number.isInteger(most))
    refuse(shape(spec), `${length} bytes`, "a count of two bytes and records of 22");
  return collect(spec, batch, (image, add) => {
    let at = image * length;
    const n = view.getUint16(at, true);
    if (n > most) refuse(shape(spec), `count ${n}`, `at most ${most}`);
    at += 2;
    for (let i = 0; i < n; i++, at += RECORD) {
      const [a, b, c, d, score] = [0, 4, 8, 12, 16].map((k) => view.getFloat32(at + k, true));
      add(a, b, c, d, score, view.getUint16(at + 20, true));
    }
  });
}

type Add = (a: number, b: number, c: number, d: number, score: number, id: number) => void;

/** Collects the rows that `read` adds for each image. Throws a TensorError for a score outside 0..1. */
function collect(spec: TensorSpec, batch: number, read: (image: number, add: Add) => void): Rows {
  const values: number[] = [];
  const images: (readonly [number, number])[] = [];
  for (let image = 0; image < batch; image++) {
    const first = values.length / 6;
    read(image, (a, b, c, d, score, id) => {
      if (score > 1 + SLACK || score < -SLACK)
        refuse(shape(spec), `score ${score}`, "a probability: is this the buffer that its network wrote?");
      values.push(a, b, c, d, score, id);
    });
    images.push([first, values.length / 6 - first]);
  }
  return { values, width: 6, images };
}
