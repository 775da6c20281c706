/** Columns of a decoder's memory, which are longer than the rows that count. */

/** Detections whose columns have spare rows. `length` changes with each frame. */
interface Counted {
  readonly length: number;
}

const OWNERS = /* @__PURE__ */ new WeakMap<object, Counted>();

/** Remembers the detections that columns belong to. */
export function setOwner(owner: Counted, columns: readonly object[]): void {
  for (const column of columns) OWNERS.set(column, owner);
}

/** Boxes with their scores and class ids, as functions of suppression take them. */
interface Lists {
  readonly boxes: ArrayLike<number>;
  readonly scores: ArrayLike<number>;
  readonly classIds: ArrayLike<number> | null;
}

/**
 * Returns lists without the rows after those that count: `found.boxes` and `found.scores` of a decoder keep rows of
 * earlier frames there. Lists of another origin are returned as they are.
 * @param width count of the values of a box
 * @param length count of the rows, if the caller knows it
 */
export function withoutSpareRows(lists: Lists, width: number, length?: number): Lists {
  const { boxes, scores, classIds } = lists;
  const owner = [boxes, scores, classIds].map((list) => OWNERS.get(list as object)).find(Boolean);
  const count = length ?? owner?.length;
  const rows = scores?.length;
  if (count === undefined || !(count < rows)) return lists;
  // Lists of other lengths are refused later, in words.
  const cut = (list: ArrayLike<number>, values: number): ArrayLike<number> =>
    list?.length !== rows * values
      ? list
      : ArrayBuffer.isView(list)
        ? (list as Float32Array).subarray(0, count * values)
        : Array.prototype.slice.call(list, 0, count * values);
  return { boxes: cut(boxes, width), scores: cut(scores, 1), classIds: classIds && cut(classIds, 1) };
}
