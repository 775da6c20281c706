/** Makes a report: the machine, the method, and the output file. */
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";

export interface Made {
  /** Time of the report, in ISO 8601. */
  readonly made: string;
  readonly command: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly arch: string;
    readonly node: string;
    /** Load average of the last minute before the run. Above 0.5, other programs were running. */
    readonly load: number;
  };
}

/** @param script name in package.json */
export function madeBy(script: string): Made {
  const args = process.argv.slice(2);
  return {
    made: new Date().toISOString(),
    command: `npm run ${script}${args.length > 0 ? ` -- ${args.join(" ")}` : ""}`,
    machine: {
      cpu: cpus()[0]?.model.trim() ?? "",
      cores: cpus().length,
      arch: process.arch,
      node: process.version,
      load: loadavg()[0],
    },
  };
}

export const machineLine = ({ machine: { cpu, cores, arch, node, load } }: Made): string =>
  `${cpu}, ${cores} cores, ${arch}, Node ${node}, load ${load.toFixed(2)}`;

/** Writes the report as JSON to a file, or to standard output if `out` is "-". */
export function writeReport(out: string | undefined, report: object): void {
  if (out === undefined) return;
  const text = `${JSON.stringify(report, null, 2)}\n`;
  if (out === "-") process.stdout.write(text);
  else writeFileSync(out, text);
}

/** Returns the printer for people: standard output, or standard error if JSON goes to standard output. */
export const printerFor = (out: string | undefined): ((line: string) => void) =>
  out === "-" ? (line) => console.error(line) : (line) => console.log(line);
