/** Copies a file of cases with the lowest bit of the first case's first score turned over. */
import { readFileSync, writeFileSync } from "node:fs";

const [from, to] = process.argv.slice(2);
const bytes = readFileSync(from);
const word = (at, index) => bytes.readUInt32LE(at + 4 * index);
const first = word(word(0, 1), 0);
const scores = word(word(first, 9), 2);
bytes[scores] ^= 1;
writeFileSync(to, bytes);
