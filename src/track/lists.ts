/** Arrays that grow and are reused, so that a frame allocates nothing. */

export type Column = Float64Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>;

/** Returns the array, or a longer copy if it has fewer than `length` elements. */
export function room<T extends Column>(column: T, length: number): T {
  if (column.length >= length) return column;
  const longer = new (column.constructor as new (length: number) => T)(
    Math.max(length, 2 * column.length, 16),
  );
  longer.set(column);
  return longer;
}

/** A list of indices. */
export class IndexList {
  length = 0;
  /** The first `length` are valid. */
  indices = new Int32Array(16);

  /** Appends an index. Returns its position. */
  push(index: number): number {
    if (this.length >= this.indices.length) this.indices = room(this.indices, this.length + 1);
    this.indices[this.length] = index;
    return this.length++;
  }

  at(place: number): number {
    return this.indices[place];
  }
}
