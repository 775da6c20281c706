/**
 * Counts the instructions of YOLOv8 in C under QEMU, for comparison with another decoder's published times:
 *
 *     node tools/speed.mjs [ROW ...]   prints the table, or those rows, after tools/prepare.sh
 *     node tools/speed.mjs --write     puts the table into ../docs/small-processors.md
 *
 * A count does not depend on the load of the machine. It is not a time: caches and pipelines are not emulated.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("..", import.meta.url));
const PAGE = new URL("../../docs/small-processors.md", import.meta.url);
const MARKS = ["<!-- counted: begin -->\n", "<!-- counted: end -->"];
const out = "build/speed";

const board = ["-nographic", "-monitor", "none", "-serial", "none", "-chardev", "stdio,id=console"];
const semihosting = ["-semihosting-config", "enable=on,target=native,chardev=console", "-kernel"];
const bare = ["-ffreestanding", "-nostdlib", "-fno-tree-loop-distribute-patterns", "-Iboards/freestanding"];
const string = "boards/freestanding/string.c";
/** Commands that compile for a processor and run the program. */
const TARGETS = {
  host: { name: "x86-64", words: ["gcc", "-static"], emulator: ["qemu-x86_64"] },
  a53: {
    name: "Cortex-A53",
    words: ["aarch64-linux-gnu-gcc", "-static", "-mcpu=cortex-a53"],
    emulator: ["qemu-aarch64"],
  },
  // The board has 4 MB of RAM.
  m7: {
    name: "Cortex-M7",
    words: ["arm-none-eabi-gcc", "-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16", "-mthumb", ...bare],
    more: ["-DMEMORY_BYTES=3932160u", "-T", "boards/flash.ld", string, "boards/start.c", "boards/console.c"],
    emulator: ["qemu-system-arm", "-machine", "mps2-an500", ...board, ...semihosting],
  },
  // The instructions of ESP32-P4, without Espressif's own extensions.
  p4: {
    name: "RV32IMAFC",
    words: ["riscv64-unknown-elf-gcc", "-march=rv32imafc", "-mabi=ilp32f", ...bare],
    more: [string],
    emulator: ["qemu-riscv32"],
  },
};
/**
 * Rows of the table. `runs`: decodes and masks of the two runs whose difference is shown. `peer`: the times that the
 * repository of edgefirst-decoder 0.35 to 0.38 states for an x86 with 20 cores, and for an A53.
 */
const ROWS = [
  {
    file: "boxes-f32",
    title: "[1,84,8400] f32 to boxes",
    runs: [
      [1, 0],
      [2, 0],
    ],
    peer: "460 us, 6.1 ms",
  },
  {
    file: "boxes-i8",
    title: "[1,84,8400] i8 to boxes",
    runs: [
      [1, 0],
      [2, 0],
    ],
    peer: "82 us, 1.0 ms",
  },
  {
    file: "masks-f32",
    title: "99 masks of 160x160, f32",
    runs: [
      [1, 0],
      [1, 1],
    ],
    peer: "10 ms (100 of 640x640), -",
  },
  {
    file: "masks-i8",
    title: "99 masks of 160x160, i8",
    runs: [
      [1, 0],
      [1, 1],
    ],
    peer: "",
  },
];

const run = (program, words) =>
  execFileSync(program, words, {
    cwd: here,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 300_000,
  });

/** Returns the instructions of a whole run. Returns undefined if the board has too little memory. */
function countRun(target, file, [decodes, masks]) {
  const { words, more = [], emulator } = TARGETS[target];
  const [compiler, ...flags] = words;
  const program = `${out}/${target}-${file}-${decodes}-${masks}`;
  const usual = [
    "-std=c11",
    "-O2",
    "-ffp-contract=off",
    "-ffunction-sections",
    "-fdata-sections",
    "-Wl,--gc-sections",
  ];
  const sources = [
    "test/speed.c",
    "src/boxwright.c",
    "src/kernel.c",
    "build/boxwright_kernel.c",
    "test/blob.S",
  ];
  const defined = [
    "-DBLOB_NAME=cases",
    `-DBLOB_FILE="build/speed-${file}.bin"`,
    `-DDECODES=${decodes}`,
    `-DMASKS=${masks}`,
  ];
  const folders = ["-Iinclude", "-Isrc", "-Ibuild"];
  try {
    run(compiler, [...usual, ...flags, ...folders, ...defined, ...more, ...sources, "-lgcc", "-o", program]);
  } catch (error) {
    if (/region .* overflowed|will not fit|more than (FLASH|RAM)_BYTES/.test(error.stderr)) return undefined;
    throw error;
  }
  const [emulate, ...settings] = emulator;
  const plugin = ["-plugin", `./${out}/counter.so`, "-d", "plugin", "-D", `${program}.txt`];
  run(emulate, [...plugin, ...settings, program]);
  return Number(/^instructions: (\d+)$/m.exec(readFileSync(`${here}/${program}.txt`, "utf8"))[1]);
}

/** Returns the difference in instructions between two runs, as text. */
function difference(target, file, [less, more]) {
  const [a, b] = [countRun(target, file, less), countRun(target, file, more)];
  return a === undefined || b === undefined ? "-" : Math.round((b - a) / 1000).toLocaleString("en-US");
}

mkdirSync(`${here}/${out}`, { recursive: true });
run("gcc", [
  "-O2",
  "-shared",
  "-fPIC",
  "-Wall",
  "-Wextra",
  "-Werror",
  "tools/counter.c",
  "-o",
  `${out}/counter.so`,
]);
const words = process.argv.slice(2);
const rows = ROWS.filter(
  ({ file }) => words.length === 0 || words.includes("--write") || words.includes(file),
);
const titles = [
  "",
  ...Object.values(TARGETS).map(({ name }) => name),
  "edgefirst-decoder, stated: x86, Cortex-A53",
];
const lines = [titles, titles.map(() => "---")].concat(
  rows.map(({ file, title, runs, peer }) => [
    title,
    ...Object.keys(TARGETS).map((target) => difference(target, file, runs)),
    peer,
  ]),
);
const table = lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
if (words.includes("--write")) {
  const [before, rest] = readFileSync(PAGE, "utf8").split(MARKS[0]);
  writeFileSync(PAGE, `${before}${MARKS[0]}${table}\n${MARKS[1]}${rest.split(MARKS[1])[1]}`);
} else console.log(table);
