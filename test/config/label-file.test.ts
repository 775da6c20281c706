import { describe, expect, test } from "vitest";
import { readLabelFile } from "../../src/config/label-file.ts";

const pbtxt = `# COCO
item {
  name: "/m/01g317"
  id: 1
  display_name: "person"
}
item {
  id: 3
  name: 'driver\\'s car'
}
`;

describe("label files", () => {
  test.each<[string, string, readonly string[]]>([
    ["one name per line", "person\ntraffic light\n\ncat\n\n", ["person", "traffic light", "", "cat"]],
    ["a byte order mark, line breaks of Windows", "\uFEFFperson\r\ncat\r\n", ["person", "cat"]],
    ["ids and names", "0  person\n1  traffic light\n", ["person", "traffic light"]],
    ["ids with gaps", "0 person\n2 car\n", ["person", "???", "car"]],
    ["ids from 1", "1 person\n2 car\n", ["???", "person", "car"]],
    ["ids in another order", "1: cat\n0: dog", ["dog", "cat"]],
    ["ids before commas", "0,person\n1,car", ["person", "car"]],
    ["ids of unused names", "0 person\n1 n/a\n3 n/a\n4 cat", ["person", "n/a", "???", "n/a", "cat"]],
    ["a single name that begins with a number", "car\n18 wheeler\nbus", ["car", "18 wheeler", "bus"]],
    ["digits", "0\n1\n2", ["0", "1", "2"]],
    [
      "YAML, a list",
      'path: x\nnames:\n  - person # one\n  - "traffic light"\nnc: 2\n',
      ["person", "traffic light"],
    ],
    ["YAML, a list at the margin", "names:\n- person\n- it's\nnc: 2", ["person", "it's"]],
    [
      "YAML, a map",
      "train: a\nnames:\n  0: person\n  # none\n  2: 'it''s'\n\nurl: x",
      ["person", "???", "it's"],
    ],
    ["YAML, a list in brackets", "nc: 3\nnames: ['a, b', \"c\", d]  # three\n", ["a, b", "c", "d"]],
    ["YAML, brackets over lines", "names: [\n  a,\n  b,\n]\n", ["a", "b"]],
    ["YAML, a map in braces", "names: {0: a, 1: 'b'}", ["a", "b"]],
    ["labelmap.pbtxt", pbtxt, ["???", "person", "???", "driver's car"]],
  ])("%s", (_, text, labels) => {
    expect(readLabelFile(text)).toEqual({ labels });
  });

  test.each<[string, string, string]>([
    ["JSON", '["a", "b"]', "JSON"],
    ["numbers before some names", "1 person\ncar\n3 cat", "2 of 3 lines that begin with a number"],
    ["an id twice", "0 person\n0 cat", "class id 0 twice"],
    ["a name for several ids", "1 cent\n2 cent\n5 cent", 'the name "cent" for several ids'],
    ["an id that is no class", "20180101 person\n20180102 cat", "class id 20180101"],
    ["YAML without names", "train: images\nnc: 2\n", "a YAML without `names:`"],
    ["YAML of another form", "names: &all\n  - a", "`names:` with neither a list nor a map"],
    ["YAML with a list in the list", "names:\n  - [a, b]", 'the line "- [a, b]" below `names:`'],
    ["YAML with no names", "names:\nnc: 0", "no names below `names:`"],
    ["an item without an id", 'item {\n name: "a"\n}', 'an item "name: \\"a\\""'],
  ])("refused: %s", (_, text, got) => {
    expect(readLabelFile(text)).toMatchObject({ got });
  });
});
