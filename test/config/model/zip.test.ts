import { expect, test } from "vitest";
import { zipEntries, zipText } from "../../../src/config/model/zip.ts";
import { withZip } from "../../support/archives.ts";

const before = Uint8Array.from({ length: 100 }, (_, i) => i);
const files = [
  { name: "labels.txt", text: "a\nb\n", stored: true },
  { name: "metadata.json", text: JSON.stringify({ names: Array(200).fill("name") }) },
];
const read = async (bytes: Uint8Array): Promise<string[]> =>
  Promise.all(zipEntries(bytes).map((entry) => zipText(bytes, entry)));

test.each([true, false])(
  "reads stored and deflated files behind other bytes, addresses from the file's start: %s",
  async (isAppended) => {
    const bytes = withZip(before, files, isAppended);
    expect(zipEntries(bytes).map(({ name }) => name)).toEqual(["labels.txt", "metadata.json"]);
    expect(await read(bytes)).toEqual(files.map(({ text }) => text));
  },
);

test("bytes without a zip have no files", () => {
  expect(zipEntries(before)).toEqual([]);
  expect(zipEntries(new Uint8Array(0))).toEqual([]);
  expect(zipEntries(new Uint8Array(200_000))).toEqual([]);
});

/** Returns the zip with a number written over `offset` bytes behind the last mark. */
function lie(mark: string, offset: number, value: number): Uint8Array {
  const bytes = Buffer.from(withZip(before, files));
  bytes.writeUInt32LE(value, bytes.lastIndexOf(Buffer.from(mark, "latin1")) + offset);
  return Uint8Array.from(bytes);
}

test.each([
  ["a directory before the file", lie("PK\x05\x06", 12, 1e9), "a directory of 1000000000 bytes before byte"],
  ["a directory elsewhere", lie("PK\x05\x06", 12, 50), "got no entry at byte"],
  ["a name past the end", lie("PK\x01\x02", 28, 0xffff), "got entry 1 up to byte"],
  [
    "too large a file",
    lie("PK\x01\x02", 24, 2 << 20),
    "zip: metadata.json: got 2097152 bytes, expected at most 1048576",
  ],
  ["a larger size than there is", lie("PK\x01\x02", 24, 5000), "zip: metadata.json: got damaged data"],
  ["a smaller size than there is", lie("PK\x01\x02", 24, 5), "zip: metadata.json: got more than the 5 bytes"],
  ["another checksum", lie("PK\x01\x02", 16, 1), "zip: metadata.json: got damaged data"],
  ["a file elsewhere", lie("PK\x01\x02", 42, 3), "zip: metadata.json: got no file at byte 3"],
  [
    "a file past the end",
    lie("PK\x01\x02", 42, 0x7fffffff),
    "zip: metadata.json: got no file at byte 2147483647",
  ],
  ["data past the end", lie("PK\x01\x02", 20, 1e6), "zip: metadata.json: got 1000000 bytes at byte"],
  [
    "another method",
    lie("PK\x01\x02", 8, 0x000e0000),
    "got compression method 14, expected stored or deflated",
  ],
])("refuses %s", async (_, bytes, message) => {
  await expect(read(bytes)).rejects.toThrow(message);
});

test("refuses a stored file with another checksum, and more files than a model has", async () => {
  const bytes = withZip(before, files);
  bytes[bytes.indexOf(97, 100 + 30 + 10)] = 98;
  await expect(read(bytes)).rejects.toThrow("zip: labels.txt: got a wrong checksum");
  const many = withZip(
    before,
    Array.from({ length: 65 }, (_, i) => ({ name: String(i), text: "", stored: true })),
  );
  expect(() => zipEntries(many)).toThrow("zip: got 65 files, expected at most 64");
});
