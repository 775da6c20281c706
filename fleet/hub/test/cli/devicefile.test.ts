/** Files of `boxwright-hub devices import`. */
import { describe, expect, it } from "vitest";
import { decodeDeviceFile, parseDeviceFile } from "../../src/cli/devicefile.ts";

describe("device files", () => {
  it("reads device files in three forms and says what is wrong", () => {
    expect(parseDeviceFile('[{"name":"a","id":"x"},{"name":"b"}]')).toEqual([
      { name: "a", id: "x" },
      { name: "b", id: undefined },
    ]);
    expect(parseDeviceFile('{"name":"a"}\n\n{"name":"b"}\n')).toHaveLength(2);
    expect(parseDeviceFile("north\nsouth\r\n")).toEqual([{ name: "north" }, { name: "south" }]);
    expect(() => parseDeviceFile("")).toThrow("expected at least one device");
    expect(() => parseDeviceFile('{"name":"a"}\n{"nam":"b"}')).toThrow('line 2: got {"nam":"b"}');
    expect(() => parseDeviceFile("[1]")).toThrow("device 1: got 1");
    expect(parseDeviceFile(decodeDeviceFile(Buffer.from("\ufeffKüche\n")))).toEqual([{ name: "Küche" }]);
    expect(() => decodeDeviceFile(Buffer.from("Küche\n", "latin1"))).toThrow("expected UTF-8");
  });
});
