import { expect, test } from "vitest";
import { GroupSync } from "../../src/group-sync.ts";

/** Returns syncs that end by hand. */
function syncsByHand() {
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const syncs = new GroupSync(() => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })));
  return { ends, syncs };
}

const settled = async (promise: Promise<void>): Promise<string> =>
  Promise.race([
    promise.then(
      () => "done",
      () => "failed",
    ),
    new Promise<string>((resolve) => setImmediate(resolve, "waits")),
  ]);

test("who comes while a sync runs shares the next one, and nobody is answered by one that began before", async () => {
  const { ends, syncs } = syncsByHand();
  const first = syncs.wait();
  const others = [syncs.wait(), syncs.wait(), syncs.wait()];
  expect(ends).toHaveLength(1);
  ends[0]!.resolve();
  expect(await settled(first)).toBe("done");
  expect(await Promise.all(others.map(settled))).toEqual(["waits", "waits", "waits"]);
  expect(ends).toHaveLength(2);
  const late = syncs.wait();
  ends[1]!.resolve();
  expect(await Promise.all(others.map(settled))).toEqual(["done", "done", "done"]);
  expect([await settled(late), ends.length]).toEqual(["waits", 3]);
});

test("a sync that fails fails those who waited for it, and the next one is another try", async () => {
  const { ends, syncs } = syncsByHand();
  const first = syncs.wait();
  const second = syncs.wait();
  ends[0]!.reject(new Error("EIO"));
  expect(await settled(first)).toBe("failed");
  ends[1]!.resolve();
  expect(await settled(second)).toBe("done");
});
