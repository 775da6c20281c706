/**
 * Proves that every access of the translated kernel stands behind a bounds check that is enough for it:
 *
 *     node test/prove.mjs build/boxwright_kernel.c
 *
 * translate.mjs writes the checks going from line to line and forgets all it knows where paths meet. This goes over the C it
 * wrote with another method, which knows more: statements become a graph, and for each the facts that hold on all paths to
 * it are found by going round until nothing changes. A fact is that some variables hold one value, and that so many bytes from
 * that value on lie inside memory. What this cannot prove is reported, so a statement it does not know is an error.
 */
import { readFileSync } from "node:fs";

const file = process.argv[2];
if (file === undefined) throw new Error("got no file, expected: node prove.mjs boxwright_kernel.c");
const text = readFileSync(file, "utf8")
  .replace(/\/\*[\s\S]*?\*\//g, "")
  .replace(/^#.*$/gm, "");
const tokens = text.match(/[A-Za-z_]\w*|\d[\w.]*(?:[ep][+-]\d+)?|[-+*/%&|^=!<>]+|[^\s]/gi);
const accessName = /^[if](32|64)_(?:load|store)(8|16)?/;
const assignments = new Set(["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="]);
let at = 0;

function expect(...wanted) {
  for (const token of wanted) {
    if (tokens[at] !== token) throw new Error(`got ${tokens.slice(at, at + 8).join(" ")}, expected ${token}`);
    at++;
  }
}

/** Tokens up to one that stands outside of all brackets, which is passed over. */
function upTo(last) {
  const begin = at;
  for (let depth = 0; depth > 0 || tokens[at] !== last; at++) {
    if (tokens[at] === undefined || /[{}]/.test(tokens[at]))
      throw new Error(`got no ${last} at ${tokens[begin]}`);
    depth += { "(": 1, ")": -1 }[tokens[at]] ?? 0;
  }
  return tokens.slice(begin, at++);
}

/** The statements of a function, each with those that may come after it. */
function graphOf() {
  const nodes = [];
  const labels = new Map();
  const jumps = [];
  const add = (before, node) => {
    nodes.push({ ...node, next: [] });
    for (const b of before) nodes[b].next.push(nodes.length - 1);
    return nodes.length - 1;
  };
  /** Reads one statement; gives back the ends from which the next one is reached. */
  const statement = (before) => {
    const [first, second] = [tokens[at], tokens[at + 1]];
    if (first === ";") return (at++, before);
    if (first === "{") return block(before);
    if (first === "if") {
      at++;
      expect("(");
      const condition = add(before, { reads: upTo(")") });
      const ends = statement([condition]);
      if (tokens[at] !== "else") return [...ends, condition];
      at++;
      return [...ends, ...statement([condition])];
    }
    if (first === "goto") {
      at += 2;
      expect(";");
      jumps.push([add(before, { reads: [] }), second]);
      return [];
    }
    if (first === "return" || first === "UNREACHABLE")
      return (add(before, { reads: upTo(";").slice(1) }), []);
    if (second === ":") {
      at += 2;
      labels.set(first, add(before, { reads: [] }));
      return [labels.get(first)];
    }
    if (/^(?:u|f)(?:32|64)$/.test(first)) return (upTo(";"), before); // what a variable begins with is never an access
    if (first === "BXW_BOUNDS") {
      const [, , name, , bytes] = upTo(";");
      return [add(before, { reads: [], checks: name, bytes: Number(bytes) })];
    }
    if (assignments.has(second)) {
      at += 2;
      const reads = upTo(";");
      const copies = second === "=" && reads.length === 1 && /^[a-z]/.test(reads[0]) ? reads[0] : undefined;
      return [add(before, { reads, assigns: first, copies })];
    }
    if (second !== "(" && second !== ";")
      throw new Error(`got ${first} ${second}, expected a statement that is known`);
    return [add(before, { reads: upTo(";") })];
  };
  const block = (before) => {
    expect("{");
    while (tokens[at] !== "}") before = statement(before);
    at++;
    return before;
  };
  block([add([], { reads: [] })]);
  for (const [from, label] of jumps) nodes[from].next.push(labels.get(label));
  return nodes;
}

// Facts: of each variable that is known the number of its value, and of that value how many bytes lie inside.
let values = 0;
function after(node, { value, inside }) {
  const known = { value: new Map(value), inside: new Map(inside) };
  const of = (name) => known.value.get(name) ?? (known.value.set(name, ++values), values);
  if (node.checks !== undefined)
    known.inside.set(of(node.checks), Math.max(node.bytes, known.inside.get(of(node.checks)) ?? 0));
  if (node.assigns !== undefined)
    known.value.set(node.assigns, node.copies === undefined ? ++values : of(node.copies));
  return known;
}
/** What holds after both. */
function meet(a, b) {
  const both = { value: new Map(), inside: new Map() };
  const pairs = new Map();
  for (const [name, one] of a.value) {
    const other = b.value.get(name);
    if (other === undefined) continue;
    const pair = `${one} ${other}`;
    if (!pairs.has(pair)) pairs.set(pair, ++values);
    both.value.set(name, pairs.get(pair));
    both.inside.set(pairs.get(pair), Math.min(a.inside.get(one) ?? 0, b.inside.get(other) ?? 0));
  }
  return both;
}
/** The same facts, whatever numbers their values have. */
function written({ value, inside }) {
  const first = new Map();
  return [...value]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, v]) => (first.has(v) || first.set(v, name), `${name} ${first.get(v)} ${inside.get(v) ?? 0}`))
    .join();
}

let proven = 0;
const missing = [];
function proveFunction(name) {
  const nodes = graphOf();
  const before = nodes.map(() => undefined);
  before[0] = { value: new Map(), inside: new Map() };
  for (const todo = [0]; todo.length > 0;) {
    const i = todo.pop();
    const facts = after(nodes[i], before[i]);
    for (const next of nodes[i].next) {
      const met = before[next] === undefined ? facts : meet(before[next], facts);
      if (before[next] !== undefined && written(met) === written(before[next])) continue;
      before[next] = met;
      todo.push(next);
    }
  }
  nodes.forEach(({ reads }, i) => {
    const found = reads.filter((token) => accessName.test(token));
    if (reads.some((token) => assignments.has(token) || token === "++" || token === "--") || found.length > 1)
      throw new Error(`${name}: got ${reads.join(" ")}, expected at most one access and no assignment`);
    if (found.length === 0) return;
    const [, bits, fewer] = accessName.exec(found[0]);
    const [call, open, instance, , base, , offset] = reads.slice(reads.indexOf(found[0]));
    if (open !== "(" || instance !== "instance" || !/^\d+u$/.test(offset))
      throw new Error(`${name}: got ${reads.join(" ")}, expected ${call}(instance, base, offset`);
    const needs = parseInt(offset) + Number(fewer ?? bits) / 8;
    const has = before[i]?.inside.get(before[i].value.get(base)) ?? 0;
    if (has >= needs) proven++;
    else missing.push(`${name}: ${reads.join(" ")}: got ${has} bytes checked, expected ${needs}`);
  });
}

while (at < tokens.length) {
  if (tokens[at] === "static") at++;
  const name = tokens[at + 1];
  at += 2;
  expect("(");
  upTo(")");
  if (tokens[at] === ";") at++;
  else proveFunction(name);
}
const all = text.match(/\b[if](?:32|64)_(?:load|store)\w*\(/g)?.length ?? 0;
if (all === 0 || proven + missing.length !== all)
  missing.push(`got ${proven + missing.length} accesses, expected all ${all} of the text`);
for (const m of missing) console.log(`FAILED: ${m}`);
console.log(`${proven} passed, ${missing.length} failed`);
process.exit(missing.length === 0 ? 0 : 1);
