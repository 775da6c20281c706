/** Parses literals of Python and JSON without running code. Exporters in Python write texts such as `{0: 'person'}`. */

/** Value of a literal. Tuples and lists become arrays. Keys of a dict become strings. */
export type Literal =
  string | number | boolean | null | readonly Literal[] | { readonly [key: string]: Literal };

/** Deepest accepted nesting. Exporters' metadata have three levels. */
const MAX_DEPTH = 16;

/** Largest accepted count of values in one text. */
const MAX_VALUES = 200_000;

/** Literals that are words, with their values. */
const WORDS: { readonly [word: string]: boolean | null } = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};

const ESCAPES: { readonly [letter: string]: string } = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** Returns the value of a literal, `undefined` if the text is no literal. */
export function readLiteral(text: string): Literal | undefined {
  const reader = new LiteralReader(text);
  try {
    const value = reader.value(0);
    return reader.isAtEnd() ? value : undefined;
  } catch (e) {
    if (e === NO_LITERAL) return undefined;
    throw e;
  }
}

/** Thrown for a text that is no literal. `readLiteral` catches it. */
const NO_LITERAL = new Error("no literal");

class LiteralReader {
  readonly #text: string;
  #at = 0;
  #values = 0;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    this.#skipBlanks();
    return this.#at === this.#text.length;
  }

  value(depth: number): Literal {
    this.#skipBlanks();
    const first = this.#text[this.#at];
    if (depth > MAX_DEPTH || ++this.#values > MAX_VALUES) throw NO_LITERAL;
    if (first === "{") return this.#dict(depth);
    if (first === "[") return this.#list("]", depth);
    if (first === "(") return this.#list(")", depth);
    if (first === "'" || first === '"') return this.#string(first);
    return this.#word();
  }

  #skipBlanks(): void {
    while (/\s/.test(this.#text[this.#at] ?? "")) this.#at++;
  }

  /** Skips the character `mark` if it comes next. Returns true if it was skipped. */
  #take(mark: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.#at] !== mark) return false;
    this.#at++;
    return true;
  }

  #list(end: string, depth: number): Literal[] {
    const items: Literal[] = [];
    this.#at++;
    while (!this.#take(end)) {
      items.push(this.value(depth + 1));
      if (!this.#take(",") && this.#text[this.#at] !== end) throw NO_LITERAL;
    }
    return items;
  }

  #dict(depth: number): { readonly [key: string]: Literal } {
    const entries: [string, Literal][] = [];
    this.#at++;
    while (!this.#take("}")) {
      const key = this.value(depth + 1);
      if ((typeof key !== "string" && typeof key !== "number") || !this.#take(":")) throw NO_LITERAL;
      entries.push([String(key), this.value(depth + 1)]);
      if (!this.#take(",") && this.#text[this.#at] !== "}") throw NO_LITERAL;
    }
    return Object.fromEntries(entries);
  }

  #string(quote: string): string {
    const text = this.#text;
    let out = "";
    for (let at = this.#at + 1; at < text.length; at++) {
      const letter = text[at];
      if (letter === quote) {
        this.#at = at + 1;
        return out;
      }
      if (letter !== "\\") out += letter;
      else {
        const code = /^(?:u([\da-fA-F]{4})|x([\da-fA-F]{2})|U000([\da-fA-F]{5}))/.exec(
          text.slice(at + 1, at + 10),
        );
        const digits = code?.[1] ?? code?.[2] ?? code?.[3];
        const escaped = text[at + 1] ?? "";
        out +=
          digits === undefined ? (ESCAPES[escaped] ?? escaped) : String.fromCodePoint(parseInt(digits, 16));
        at += code?.[0].length ?? 1;
      }
    }
    throw NO_LITERAL;
  }

  #word(): Literal {
    const [word] = /^[\w.+-]{1,32}/.exec(this.#text.slice(this.#at, this.#at + 32)) ?? [""];
    this.#at += word.length;
    if (Object.hasOwn(WORDS, word)) return WORDS[word];
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(word)) throw NO_LITERAL;
    return Number(word);
  }
}
