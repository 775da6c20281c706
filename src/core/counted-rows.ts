/** Cuts the columns of a decoder's memory to the detections of the last frame. Rows after them hold earlier frames. */

/** Detections of a decoder. `length` counts those of the last frame. */
interface Counted {
  readonly length: number;
}

const OWNER = /* @__PURE__ */ Symbol("owner");

/**
 * Records which detections the columns belong to. The column holds them: keys of a WeakMap outlive each collection of
 * young objects, and a decoder's memory with them.
 */
export function setOwner(owner: Counted, columns: readonly object[]): void {
  for (const column of columns) Object.defineProperty(column, OWNER, { value: owner });
}

interface Owned {
  readonly [OWNER]?: Counted;
}

/** Boxes with their scores and class ids, in the form that suppression takes. */
interface Lists {
  readonly boxes: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly classIds: ArrayLike<number> | null;
}

/**
 * Returns columns of a decoder cut to the detections of the last frame. Other lists are returned as they are, unless
 * the caller states `length`.
 * @param width count of the values of a box
 * @param length count of the detections, if the caller knows it
 */
export function withoutSpareRows(lists: Lists, width: number, length?: number): Lists {
  const { boxes, scores, classIds } = lists;
  const owner = [boxes, scores, classIds].map((list) => (list as Owned | null)?.[OWNER]).find(Boolean);
  const count = length ?? owner?.length;
  const rows = scores?.length;
  if (count === undefined || !(count < rows)) return lists;
  // Return a list of another length as it is: checkLengths refuses it with an error.
  const cut = (list: ArrayLike<number>, values: number): ArrayLike<number> =>
    list?.length !== rows * values
      ? list
      : ArrayBuffer.isView(list)
        ? (list as Float32Array).subarray(0, count * values)
        : Array.prototype.slice.call(list, 0, count * values);
  return { boxes: cut(boxes, width), scores: cut(scores, 1), classIds: classIds && cut(classIds, 1) };
}
