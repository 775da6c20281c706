import { expect, test } from "vitest";
import { NoRoomError, Room } from "../src/room.ts";

const kindOf = (work: () => unknown): string => {
  try {
    work();
    return "ok";
  } catch (error) {
    return error instanceof NoRoomError ? error.kind : String(error);
  }
};

function roomAt(time: { now: number }): Room {
  return new Room({ size: 100, ofSender: 2, slowAfter: 1000, now: () => time.now });
}

test("slow visits take half of the room at most, and quick ones find the rest", () => {
  const time = { now: 0 };
  const room = roomAt(time);
  const slow = Array.from({ length: 5 }, () => room.enter());
  for (const visit of slow) visit.take(10);
  time.now = 1000;
  expect(kindOf(() => slow[0]!.take(1))).toBe("slow");
  const quick = room.enter();
  quick.take(50);
  expect(kindOf(() => quick.take(1))).toBe("full");
  // One that leaves gives back its part of both counts.
  slow[0]!.leave();
  slow[0]!.leave();
  expect(room.taken).toBe(90);
  slow[1]!.take(10);
  expect(kindOf(() => slow[1]!.take(1))).toBe("slow");
  for (const visit of [...slow, quick]) visit.leave();
  expect(room.taken).toBe(0);
  room.enter().take(100);
});

test("a sender has a share, and others come in beside it", () => {
  const room = roomAt({ now: 0 });
  const visits = [room.enter("a"), room.enter("a")];
  expect(kindOf(() => room.enter("a"))).toBe("share");
  room.enter("b").take(1);
  for (let i = 0; i < 5; i++) room.enter().take(1);
  visits[0]!.leave();
  expect(kindOf(() => room.enter("a"))).toBe("ok");
});
