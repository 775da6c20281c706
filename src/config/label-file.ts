/** Reads label files: a name, or an id and a name, on each line; `names:` of a YAML; or a `labelmap.pbtxt`. */
import { parseJson } from "../core/json.ts";

/** Labels by class id, or an error that says what is wrong with the file. */
export type LabelFile =
  { readonly labels: readonly string[] } | { readonly got: string; readonly expected: string };

/** Label for an id that the file omits. TensorFlow's own label files have the same text. */
const UNUSED = "???";
/** Largest class id. A larger number at the start of a line is part of a name. */
const MAX_ID = 65_535;
/** Matches labels that a file may give to several unused ids. */
const NONE = /^(\?\?\?|n\/a|unused|unlabeled)$/i;
const FORMS =
  "one name per line, an id and a name per line, `names:` of a YAML, or items of a labelmap.pbtxt";

const wrong = (got: string, expected = FORMS): LabelFile => ({ got, expected });

/** Reads the text of a label file. */
export function readLabelFile(text: string): LabelFile {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (isJson(text)) return wrong("JSON");
  if (/^\s*item\s*:?\s*\{/m.test(text)) return readPbtxt(text);
  // Find the line "names:". A label may end with a colon, but no label is just "names:".
  const start = lines.findIndex((line) => /^["']?names["']?\s*:/.test(line));
  if (start >= 0) return readYaml(lines, start);
  if (lines.some((line) => /^(train|val|nc|path)\s*:/.test(line))) return wrong("a YAML without `names:`");
  return readLines(lines.map((line) => line.trim()));
}

/** True if a text is a JSON object or list. False for a text of one word or number, which may be a label. */
function isJson(text: string): boolean {
  const json = parseJson(text);
  return typeof json === "object" && json !== null;
}

function readLines(lines: readonly string[]): LabelFile {
  const filled = lines.filter((line) => line !== "");
  const rows = filled.flatMap((line) => {
    const match = /^(\d+)(?:\s*[:,;]\s*|\s+)(\S.*)$/.exec(line);
    return match ? [[Number(match[1]), match[2]] as const] : [];
  });
  // If only one of several lines begins with a number, the number is part of a name: "18 wheeler".
  if (rows.length <= 1 && filled.length > 1) return plain(lines);
  if (rows.length === 0) return plain(lines);
  if (rows.length === filled.length) return byId(rows);
  return wrong(
    `${rows.length} of ${filled.length} lines that begin with a number`,
    "an id in front of every name or of none",
  );
}

/** Returns the labels of a file with one name per line. An empty line between names is a class without a name. */
function plain(lines: readonly string[]): LabelFile {
  const labels = [...lines];
  while (labels[labels.length - 1] === "") labels.pop();
  return { labels };
}

function byId(rows: readonly (readonly [id: number, name: string])[]): LabelFile {
  const labels: string[] = [];
  for (const [id, name] of rows) {
    if (id > MAX_ID) return wrong(`class id ${id}`, `class ids up to ${MAX_ID}`);
    if (labels[id] !== undefined) return wrong(`class id ${id} twice`, "each id once");
    labels[id] = name;
  }
  // Refuse a name that has several ids, unless the ids are 0, 1, 2, ... The numbers may be parts of names: "1 cent", "5
  // cent".
  const names = rows.map(([, name]) => name);
  const isDense = rows.every(([id], i) => id === i);
  const firsts = new Map([...names.entries()].reverse().map(([i, name]) => [name, i] as const));
  const twice = isDense ? undefined : names.find((name, i) => firsts.get(name) !== i && !NONE.test(name));
  if (twice !== undefined)
    return wrong(
      `the name ${JSON.stringify(twice)} for several ids`,
      "names that differ, or one name per line without ids",
    );
  return { labels: Array.from(labels, (name) => name ?? UNUSED) };
}

/** Returns the text of a YAML scalar, quoted or bare, without a comment. `null` for any other YAML. */
function scalar(text: string): string | null {
  const word = text.trim();
  const quoted = /^(?:"((?:[^"\\]|\\["\\])*)"|'((?:[^']|'')*)')\s*(?:#.*)?$/.exec(word);
  if (quoted) return quoted[1]?.replace(/\\(.)/g, "$1") ?? quoted[2].replaceAll("''", "'");
  const bare = word.replace(/\s+#.*$/, "");
  return bare === "" || /^["'[{&*!|>%@`#]/.test(bare) ? null : bare;
}

/** Reads the value of `names:` in a YAML: a list, or a map by id, over several lines or in brackets. */
function readYaml(lines: readonly string[], start: number): LabelFile {
  const rest = lines[start].slice(lines[start].indexOf(":") + 1).replace(/^\s*#.*$/, "");
  if (rest.trim() !== "") return readFlow(rest + lines.slice(start + 1).join("\n"));
  const rows: [number, string][] = [];
  for (const line of lines.slice(start + 1)) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    // A line without indentation that is no list item is the next key of the YAML.
    const item = /^\s*-\s+(.*)$/.exec(line);
    const entry = /^\s+["']?(\d+)["']?\s*:\s*(.*)$/.exec(line);
    if (!item && !/^\s/.test(line)) break;
    const name = scalar(item?.[1] ?? entry?.[2] ?? "");
    if (name === null) return wrong(`the line ${JSON.stringify(line.trim().slice(0, 40))} below \`names:\``);
    rows.push([entry ? Number(entry[1]) : rows.length, name]);
  }
  return rows.length > 0 ? byId(rows) : wrong("no names below `names:`");
}

/** Reads `[a, b]` or `{0: a, 1: b}`. */
function readFlow(text: string): LabelFile {
  const [, open, body] = /^\s*([[{])([^\]}]*)[\]}]/.exec(text) ?? [];
  if (body === undefined) return wrong("`names:` with neither a list nor a map");
  const parts = body.match(/(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,])+/g) ?? [];
  const rows: [number, string][] = [];
  for (const part of parts.filter((one) => one.trim() !== "")) {
    const entry = open === "{" ? /^\s*["']?(\d+)["']?\s*:(.*)$/s.exec(part) : null;
    const name = scalar(entry?.[2] ?? (open === "[" ? part : ""));
    if (name === null) return wrong(`${JSON.stringify(part.trim().slice(0, 40))} in \`names:\``);
    rows.push([entry ? Number(entry[1]) : rows.length, name]);
  }
  return rows.length > 0 ? byId(rows) : wrong("no names in `names:`");
}

/** Reads the items of TensorFlow's Object Detection API: `item { id: 1 name: "x" display_name: "person" }`. */
function readPbtxt(text: string): LabelFile {
  const rows: [number, string][] = [];
  const string = `("(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*')`;
  for (const [, body] of text.replace(/^\s*#.*$/gm, "").matchAll(/item\s*:?\s*\{([^}]*)\}/g)) {
    const id = /(?:^|[\s,;])id\s*:\s*(\d+)/.exec(body)?.[1];
    const name = ["display_name", "name"]
      .map((key) => new RegExp(`(?:^|[\\s,;])${key}\\s*:\\s*${string}`).exec(body)?.[1])
      .find((found) => found !== undefined);
    if (id === undefined || name === undefined)
      return wrong(`an item ${JSON.stringify(body.trim().slice(0, 40))}`, "an id and a name in each item");
    rows.push([Number(id), name.slice(1, -1).replace(/\\(.)/g, "$1")]);
  }
  return rows.length > 0 ? byId(rows) : wrong("no whole item");
}
