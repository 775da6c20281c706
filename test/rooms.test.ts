/** The order of the files in src/: a room imports values only from rooms before it, types from anywhere. CONTRIBUTING says what each is for. */
import { readFileSync, readdirSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../src/", import.meta.url);

const ROOMS = [
  [
    "numbers and words",
    "abi exp errors memory tensor families conventions class-lists numbers gates crc32 baseline/value",
  ],
  ["JSON to config", "config/ config options built-priors"],
  ["shapes to heads", "question views places reading readings/ readings refusals"],
  ["plan", "plan"],
  ["memory", "layout letterbox image"],
  [
    "engines",
    "baseline/ baseline unpack kernel source source-node source-none source-workerd wasm wasm-none engine",
  ],
  ["frames", "detections stats slots gather check nms"],
  ["decoders", "describe planfile compile load inspect decoder"],
  ["entries", "index priors plan-entry wasm-entry safetensors files/ files draw node cli/ cli"],
] as const;

/** The room of a file, by its name or its folder's, and its place among all. */
function placeOf(file: string): [room: number, place: number] {
  const name = file.replace(/\.ts$/, "");
  const names = ROOMS.map(([, words]) => words.split(" "));
  let room = names.findIndex((list) => list.includes(name));
  if (room < 0) room = names.findIndex((list) => list.includes(`${name.split("/")[0]}/`));
  return [room, names[room]?.indexOf(name)];
}

const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .map((f) => f.replaceAll("\\", "/"))
  .filter((f) => f.endsWith(".ts") && f !== "globals.d.ts");

/** Files of ours that a file imports values from. */
function importsOf(file: string): string[] {
  const text = readFileSync(new URL(file, root), "utf8");
  return [...text.matchAll(/^(?:import|export)\s+(type\s+)?([^;]*?)\s*from\s+"(\.[^"]+\.ts)"/gm)]
    .filter(([, type, names]) => !type && !/^\{(\s*type\s+\w+(\s+as\s+\w+)?,?)*\s*\}$/.test(names))
    .map(([, , , path]) => posix.join(posix.dirname(file), path));
}

test("every file has a room, and every name of a room is a file or a folder", () => {
  expect(files.filter((f) => placeOf(f)[0] < 0)).toEqual([]);
  const known = new Set(files.flatMap((f) => [f.replace(/\.ts$/, ""), f.replace(/[^/]*$/, "")]));
  expect(ROOMS.flatMap(([, words]) => words.split(" ")).filter((w) => !known.has(w))).toEqual([]);
});

test("imports go back, never forward", () => {
  const forward = files.flatMap((f) =>
    importsOf(f)
      .filter((other) => placeOf(other)[0] > placeOf(f)[0])
      .map((other) => `${f} imports ${other}`),
  );
  expect(forward).toEqual([]);
});

test("and never in a circle", () => {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    expect(path, `${[...path, file].join(" -> ")}`).not.toContain(file);
    if (done.has(file)) return;
    for (const other of importsOf(file)) visit(other, [...path, file]);
    done.add(file);
  };
  files.forEach((f) => visit(f, []));
  expect(done.size).toBe(files.length);
});
