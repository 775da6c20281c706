/** Where reports go, what every one of them says about its making, and how pieces become one. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const reportFolder: string = fileURLToPath(new URL("./report", import.meta.url));

export interface Made {
  /** ISO time. */
  readonly made: string;
  readonly command: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly arch: string;
    readonly platform: string;
    readonly node: string;
  };
}

/** @param script of package.json that was run */
export function machineOf(script: string): Made {
  const args = process.argv.slice(2);
  // What only says where the result goes, or which piece of the whole this is, is not how it was measured.
  const pieces = args.includes("--append") || args.includes("--again");
  const kept = args.filter(
    (arg, i) =>
      !["--append", "--again", "--publish", "--out"].includes(arg) &&
      args[i - 1] !== "--out" &&
      !(pieces && (arg === "--only" || args[i - 1] === "--only")),
  );
  return {
    made: new Date().toISOString(),
    command: `npm run ${script}${kept.length > 0 ? ` -- ${kept.join(" ")}` : ""}`,
    machine: {
      cpu: (cpus()[0]?.model ?? "")
        .replace(/\((R|TM)\)/gi, "")
        .replace(/\s+/g, " ")
        .trim(),
      cores: cpus().length,
      arch: process.arch,
      platform: process.platform,
      node: process.version,
    },
  };
}

/** What is built, in short: two reports of the same are of the same code. */
export function buildOf(): string {
  const dist = fileURLToPath(new URL("../dist/", import.meta.url));
  const hash = createHash("sha256");
  for (const name of readdirSync(dist).sort()) hash.update(name).update(readFileSync(join(dist, name)));
  return hash.digest("hex").slice(0, 12);
}

/** The comment that a script begins with: how it is called. */
export const usageOf = (script: string): string =>
  (/^\/\*\*\n([^]*?)\n \*\//.exec(readFileSync(script, "utf8"))?.[1] ?? "").replace(/^ \* ?/gm, "");

/** "Intel Xeon, 2 cores, x64, Node v20.20.2, 2026-11-21" */
export const captionOf = ({ machine, made }: Made): string =>
  `${machine.cpu}, ${machine.cores} ${machine.cores === 1 ? "core" : "cores"}, ${machine.arch}, Node ${machine.node}, ${made.slice(0, 10)}`;

/** A report as it was left by an earlier run, or undefined. */
export function load<T>(folder: string, name: string): T | undefined {
  const file = join(folder, `${name}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as T) : undefined;
}

/**
 * With `--append`, what the earlier run holds under `key` and this one did not measure again, then what this
 * one measured: so that a long run can be made in pieces.
 */
export function appended<T extends { readonly name: string }>(
  { append, out }: { readonly append: boolean; readonly out: string },
  key: string,
  now: readonly T[],
  file = key,
): T[] {
  const before = append ? (load<Record<string, T[]>>(out, file)?.[key] ?? []) : [];
  return [...before.filter(({ name }) => now.every((item) => item.name !== name)), ...now];
}

export function save(
  folder: string,
  name: string,
  report: unknown,
  others: Readonly<Record<string, string>> = {},
): void {
  mkdirSync(folder, { recursive: true });
  const files = { json: `${JSON.stringify(report, null, 2)}\n`, ...others };
  for (const [extension, content] of Object.entries(files))
    writeFileSync(join(folder, `${name}.${extension}`), content);
  console.log(
    `report: ${Object.keys(files)
      .map((extension) => join(folder, `${name}.${extension}`))
      .join(", ")}`,
  );
}
