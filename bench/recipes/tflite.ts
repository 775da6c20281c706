/** Writes a network of one operator without options, in the format of TensorFlow Lite. */

/** A value of a FlatBuffer. References point forward, so a value comes before the values to which it refers. */
type Node =
  | { readonly table: readonly (number | Node | undefined)[] }
  | { readonly list: readonly Node[] }
  | { readonly words: readonly number[] }
  | { readonly text: string };

class Writer {
  #view = new DataView(new ArrayBuffer(4096));
  #end = 0;

  /** Writes a word and returns its address. */
  #word(value: number): number {
    this.#view.setInt32(this.#end, value, true);
    this.#end += 4;
    return this.#end - 4;
  }

  /** Writes a value and makes the word at `at` refer to it. */
  #refer(at: number, node: Node): void {
    this.#view.setUint32(at, this.#put(node) - at, true);
  }

  /** Writes a value at the end and returns its address. */
  #put(node: Node): number {
    this.#end = (this.#end + 3) & ~3;
    if ("text" in node) {
      const bytes = new TextEncoder().encode(`${node.text}\0`);
      const at = this.#word(bytes.length - 1);
      for (const byte of bytes) this.#view.setUint8(this.#end++, byte);
      return at;
    }
    if ("words" in node) {
      const at = this.#word(node.words.length);
      for (const word of node.words) this.#word(word);
      return at;
    }
    if ("list" in node) {
      const at = this.#word(node.list.length);
      const places = node.list.map(() => this.#word(0));
      node.list.forEach((item, i) => this.#refer(places[i], item));
      return at;
    }
    // Write the layout of the table before the table: two lengths, then the offset of each field, or 0 if it is absent.
    // Every field takes a word. Readers of a smaller type read its low bytes.
    const { table } = node;
    const shape = this.#end;
    this.#view.setUint16(shape, 4 + 2 * table.length, true);
    this.#end = (shape + 4 + 2 * table.length + 3) & ~3;
    const at = this.#word(0);
    this.#view.setInt32(at, at - shape, true);
    const children: [number, Node][] = [];
    table.forEach((field, i) => {
      if (field === undefined) return;
      this.#view.setUint16(shape + 4 + 2 * i, this.#end - at, true);
      const place = this.#word(typeof field === "number" ? field : 0);
      if (typeof field !== "number") children.push([place, field]);
    });
    this.#view.setUint16(shape + 2, this.#end - at, true);
    for (const [place, child] of children) this.#refer(place, child);
    return at;
  }

  write(root: Node, identifier: string): Uint8Array {
    this.#end = 4 + identifier.length;
    new TextEncoder().encodeInto(identifier, new Uint8Array(this.#view.buffer, 4));
    this.#refer(0, root);
    return new Uint8Array(this.#view.buffer, 0, (this.#end + 3) & ~3);
  }
}

/** BuiltinOperator.RELU, TensorType.FLOAT32 and the version of schema.fbs. */
const [RELU, FLOAT32, VERSION] = [19, 0, 3];

/** Returns the model `output0 = relu(images)`, float32 of the given shape. */
export function reluModel(dims: readonly number[]): Uint8Array {
  const tensor = (name: string): Node => ({ table: [{ words: dims }, FLOAT32, 0, { text: name }] });
  const operator: Node = { table: [0, { words: [0] }, { words: [1] }] };
  const graph: Node = {
    table: [
      { list: [tensor("images"), tensor("output0")] },
      { words: [0] },
      { words: [1] },
      { list: [operator] },
      { text: "main" },
    ],
  };
  // The operator's code is written twice: as a byte for old readers, and as a word.
  const code: Node = { table: [RELU, undefined, 1, RELU] };
  // Buffer 0 is empty by convention. Tensors without constant content refer to this buffer.
  const model: Node = {
    table: [VERSION, { list: [code] }, { list: [graph] }, { text: "relu" }, { list: [{ table: [] }] }],
  };
  return new Writer().write(model, "TFL3");
}
