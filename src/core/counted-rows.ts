/**
 * Cuts the columns of a decoder's memory to the last frame's detections. Later rows are left over from earlier frames.
 */

/** Detections of a decoder. `length` is the count of the last frame's detections. */
interface Counted {
  readonly length: number;
}

const OWNER = /* @__PURE__ */ Symbol("owner");

/** Stores the owner in each column. A WeakMap would keep the decoder's memory alive for too long. */
export function setOwner(owner: Counted, columns: readonly object[]): void {
  for (const column of columns) Object.defineProperty(column, OWNER, { value: owner });
}

interface Owned {
  readonly [OWNER]?: Counted;
}

/** Boxes with their scores and class ids, in the form that suppression accepts. */
interface Lists {
  readonly boxes: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly classIds: ArrayLike<number> | null;
}

/** Returns a decoder's columns cut to the last frame's detections. Other lists are cut only if `length` is stated. */
export function withoutSpareRows(lists: Lists, width: number, length?: number): Lists {
  const { boxes, scores, classIds } = lists;
  const owner = [boxes, scores, classIds].map((list) => (list as Owned | null)?.[OWNER]).find(Boolean);
  const count = length ?? owner?.length;
  const rows = scores?.length;
  if (count === undefined || !(count < rows)) return lists;
  // Keep a list of another length unchanged: checkLengths refuses it with an error.
  const cut = (list: ArrayLike<number>, values: number): ArrayLike<number> =>
    list?.length !== rows * values
      ? list
      : ArrayBuffer.isView(list)
        ? (list as Float32Array).subarray(0, count * values)
        : Array.prototype.slice.call(list, 0, count * values);
  return { boxes: cut(boxes, width), scores: cut(scores, 1), classIds: classIds && cut(classIds, 1) };
}
