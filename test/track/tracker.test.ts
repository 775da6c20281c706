/** What holds for every tracker, whatever the detections. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createTracker,
  type Tracker,
  type TrackerInput,
  type TrackerOptions,
} from "../../src/entries/index.ts";
import { AreaFilter, FILTER, HeightFilter } from "../../src/track/filter.ts";
import { TrackerFrame } from "../../src/track/frame.ts";
import { OcSort } from "../../src/track/ocsort.ts";
import { complete } from "../../src/track/options.ts";
import { repeats } from "../support/effort.ts";
import { mulberry32 } from "../support/seeded-networks.ts";

const METHODS: readonly TrackerOptions[] = [
  { method: "sort" },
  { method: "bytetrack" },
  { method: "ocsort" },
];

interface Seen {
  /** Object that the detection shows, -1 for a false alarm. */
  readonly object: number;
  readonly box: readonly number[];
  readonly score: number;
  readonly classId: number;
}

/** Makes frames of moving objects, some of them missing now and then, with false alarms and low scores. */
function sceneOf(seed: number, frames: number, objects: number): Seen[][] {
  const random = mulberry32(seed);
  const moving = Array.from({ length: objects }, (_, object) => ({
    object,
    x: random() * 1200,
    y: random() * 700,
    dx: random() * 8 - 4,
    dy: random() * 6 - 3,
    width: 30 + random() * 80,
    height: 40 + random() * 120,
  }));
  const boxAt = (x: number, y: number, w: number, h: number): number[] => [x, y, x + w, y + h];
  return Array.from({ length: frames }, () => {
    const seen: Seen[] = [];
    for (const o of moving) {
      o.x += o.dx + random() - 0.5;
      o.y += o.dy + random() - 0.5;
      if (random() < 0.1) continue;
      const box = boxAt(o.x, o.y, o.width + random() * 2, o.height + random() * 2);
      seen.push({ object: o.object, box, score: 0.15 + 0.84 * random(), classId: o.object % 2 });
    }
    if (random() < 0.3)
      seen.push({
        object: -1,
        box: boxAt(random() * 1200, random() * 700, 50, 60),
        score: 0.2 + random() * 0.6,
        classId: 0,
      });
    return seen;
  });
}

const columns = (seen: readonly Seen[], scale: readonly [number, number] = [1, 1]): TrackerInput => ({
  length: seen.length,
  boxes: seen.flatMap(({ box }) => box.map((v, i) => v / scale[i & 1])),
  scores: seen.map(({ score }) => score),
  classIds: seen.map(({ classId }) => classId),
});

const run = (
  tracker: Tracker,
  frames: readonly (readonly Seen[])[],
  at = (i: number): number => i / 30,
): number[][] => frames.map((seen, i) => [...tracker.update(columns(seen), at(i))]);

const seeds = fc.integer({ min: 0, max: 1e6 });

describe.each(METHODS)("$method", (options) => {
  const check = (law: (frames: Seen[][], seed: number) => void, length = 40): void =>
    fc.assert(
      fc.property(seeds, (seed) => law(sceneOf(seed, length, 6), seed)),
      { numRuns: repeats(30, 5) },
    );

  test("no id twice in a frame, none below 0", () => {
    let given = 0;
    check((frames) => {
      for (const ids of run(createTracker(options), frames)) {
        const named = ids.filter((id) => id > 0);
        given += named.length;
        expect(new Set(named).size).toBe(named.length);
        expect(ids.every((id) => id >= 0)).toBe(true);
      }
    });
    expect(given).toBeGreaterThan(repeats(500, 50));
  });

  test("the order of the detections changes the order of the ids only", () => {
    check((frames, seed) => {
      const random = mulberry32(seed);
      // New tracks get their ids in the order of the detections: only the grouping must stay.
      const orders = frames.map((seen) => seen.map((_, i) => i).sort(() => random() - 0.5));
      const straight = run(createTracker(options), frames);
      const turned = run(
        createTracker(options),
        frames.map((seen, f) => orders[f].map((i) => seen[i])),
      );
      const names = new Map<number, number>([[0, 0]]);
      frames.forEach((seen, f) =>
        orders[f].forEach((i, place) => {
          const id = straight[f][i];
          if (!names.has(id)) names.set(id, turned[f][place]);
          expect(turned[f][place], `frame ${f} of ${seen.length}`).toBe(names.get(id));
        }),
      );
    });
  });

  test("trackers share nothing, and reset() forgets everything", () => {
    check((frames, seed) => {
      const others = sceneOf(seed + 1, frames.length, 5);
      const alone = run(createTracker(options), frames);
      const [a, b] = [createTracker(options), createTracker(options)];
      const together = frames.map((seen, i) => {
        const ids = a.update(columns(seen), i / 30);
        b.update(columns(others[i]), i / 30);
        return [...ids];
      });
      expect(together).toEqual(alone);
      b.reset();
      expect(b.tracks).toBe(0);
      expect(run(b, frames)).toEqual(alone);
    });
  });

  test("only differences of time count, and only beside the frame rate", () => {
    check((frames) => {
      const straight = run(createTracker(options), frames);
      expect(run(createTracker(options), frames, (i) => 1.7e9 + i / 30)).toEqual(straight);
      const slow = { ...options, frameRate: 10, maxLost: (options.method === "sort" ? 1 : 30) / 10 };
      expect(run(createTracker(slow), frames, (i) => i / 10)).toEqual(straight);
      // Half of a frame early or late makes other boxes, but no other tracks die.
      const shaky = run(createTracker(options), frames, (i) => i / 30 + (i % 2) * 1e-4);
      expect(shaky).toEqual(straight);
    });
  });

  test("boxes in 0..1 with a size have the ids of boxes in pixels", () => {
    check((frames) => {
      const size = [1280, 720] as const;
      const pixels = createTracker(options);
      const unit = createTracker({ ...options, size });
      frames.forEach((seen, i) => {
        const ids = [...pixels.update(columns(seen), i / 30)];
        expect([...unit.update(columns(seen, size), i / 30)]).toEqual(ids);
        for (let k = 0; k < 4 * seen.length; k++)
          expect(unit.boxes[k] * size[k & 1]).toBeCloseTo(pixels.boxes[k], 6);
      });
    });
  });

  test("with perClass no track changes its class", () => {
    let mixed = 0;
    check((frames) => {
      // All objects of one scene on one spot, in two classes.
      const crowded = frames.map((seen) =>
        seen.map((s) => ({
          ...s,
          box: s.box.map((v, i) => (i & 1 ? 100 : 200) + (i > 1 ? 90 : 0) + v / 20),
        })),
      );
      const classesOf = (perClass: boolean): number => {
        const classes = new Map<number, Set<number>>();
        run(createTracker({ ...options, perClass }), crowded).forEach((ids, f) =>
          ids.forEach((id, d) => {
            if (id > 0) classes.set(id, (classes.get(id) ?? new Set()).add(crowded[f][d].classId));
          }),
        );
        return [...classes.values()].filter(({ size }) => size > 1).length;
      };
      expect(classesOf(true)).toBe(0);
      mixed += classesOf(false);
    });
    expect(mixed).toBeGreaterThan(0);
  });

  test("dropped frames do no harm to objects that move evenly", () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 2, max: 4 }), (seed, every) => {
        const random = mulberry32(seed);
        const speeds = Array.from({ length: 5 }, () => random() * 12 - 6);
        const boxOf = (object: number, i: number): number[] => {
          const x = 500 + speeds[object] * i;
          return [x, 300 * object, x + 60, 300 * object + 120];
        };
        const tracker = createTracker(options);
        const named: number[][] = [];
        for (let i = 0; i < 60; i++) {
          // Up to frame 20 every frame comes, so that speeds are known.
          if (i > 20 && i % every !== 0) continue;
          const boxes = speeds.flatMap((_, object) => boxOf(object, i));
          const ids = tracker.update({ length: 5, boxes, scores: speeds.map(() => 0.9) }, i / 30);
          named.push([...ids]);
        }
        for (const ids of named.slice(3)) expect(ids).toEqual(named[named.length - 1]);
        expect(new Set(named[5]).size).toBe(5);
      }),
      { numRuns: repeats(30, 5) },
    );
  });

  test("a lost track keeps its id for maxLost, and no longer", () => {
    const at = (i: number, gap: number): number => (i < 10 ? i : i + gap - 1) / 30;
    const idsAfter = (gap: number, maxLost: number): number[] => {
      const tracker = createTracker({ ...options, maxLost });
      const one = { length: 1, boxes: [100, 100, 180, 300], scores: [0.9] };
      let ids: number[] = [];
      for (let i = 0; i < 16; i++) {
        if (i === 10)
          for (let k = 0; k < gap - 1; k++)
            tracker.update({ length: 0, boxes: [], scores: [] }, (10 + k - 0.25) / 30);
        ids = [...tracker.update(one, at(i, gap))];
      }
      return ids;
    };
    expect(idsAfter(6, 0.5)).toEqual([1]);
    expect(idsAfter(14, 0.5)).toEqual([1]);
    expect(idsAfter(25, 0.5)[0]).toBeGreaterThan(1);
  });

  test.each([0, 1, 3])("a pause after %i empty frames gives the ids that empty frames give", (empties) => {
    const one = { length: 1, boxes: [100, 100, 180, 300], scores: [0.9] };
    const none = { length: 0, boxes: [], scores: [] };
    const idsAfter = (pause: number, isFilled: boolean, frameGap = 1 / 30): number[] => {
      const tracker = createTracker(options);
      for (let i = 0; i < 10; i++) tracker.update(one, i * frameGap);
      const start = 9 * frameGap;
      for (let i = 1; i <= (isFilled ? pause / frameGap - 1 : empties); i++)
        tracker.update(none, start + i * frameGap);
      return Array.from({ length: 4 }, (_, i) => tracker.update(one, start + pause + i * frameGap)[0]);
    };
    for (const pause of [1.5, 5, 10]) expect(idsAfter(pause, false)).toEqual(idsAfter(pause, true));
    for (const pause of [1.5, 3600]) expect(idsAfter(pause, false)[3]).toBe(2);
    // Frames that come slower than the nominal rate: the gap of the last frame is no pause.
    for (const frameGap of [0.1, 0.4, 2])
      if (empties === 0) expect(idsAfter(2 * frameGap, false, frameGap)).toEqual([1, 1, 1, 1]);
  });

  test("a second frame after an hour is a new object, and a slow camera keeps its ids", () => {
    const one = { length: 1, boxes: [100, 100, 180, 300], scores: [0.9] };
    const paused = createTracker(options);
    paused.update(one, 0);
    paused.update(one, 3600);
    expect(paused.update(one, 3600.1)[0]).toBe(2);
    for (const gap of [0.2, 1, 2, 9]) {
      const slow = createTracker(options);
      // Gaps that vary by a half.
      const at = (i: number): number => (i + (i % 2) / 4) * gap;
      for (let i = 0; i < 12; i++) expect(slow.update(one, at(i))[0]).toBe(1);
    }
  });

  test("frames out of order are refused, and leave the tracker as it was", () => {
    const frames = sceneOf(3, 20, 5);
    const straight = run(createTracker(options), frames);
    const tracker = createTracker(options);
    frames.forEach((seen, i) => {
      expect([...tracker.update(columns(seen), i / 30)]).toEqual(straight[i]);
      for (const late of [i / 30, (i - 1) / 30])
        expect(() => tracker.update(columns(seen), late)).toThrow(/seconds: got .* expected a later time/);
      expect(() => tracker.update({ ...columns(seen), length: 99 }, (i + 0.5) / 30)).toThrow(
        "detections.boxes",
      );
      expect(() =>
        tracker.update(columns([{ ...frames[0][0], box: [1, 2, NaN, 4] }]), (i + 0.5) / 30),
      ).toThrow("finite coordinates");
      expect(() => tracker.update(columns([{ ...frames[0][0], score: 1.5 }]), (i + 0.5) / 30)).toThrow(
        "scores[0]: got 1.5, expected a confidence in 0..1",
      );
    });
  });

  test("degenerate boxes end nothing", () => {
    const tracker = createTracker(options);
    const boxes = [50, 50, 50, 50, 100, 100, 90, 80, 300, 300, 340, 300, 400, 400, 440, 480];
    for (let i = 0; i < 8; i++) {
      const ids = tracker.update({ length: 4, boxes, scores: [0.9, 0.9, 0.9, 0.9] }, i / 30);
      expect(ids).toHaveLength(4);
    }
    // The last box is well-formed.
    expect(tracker.update({ length: 4, boxes, scores: [0.9, 0.9, 0.9, 0.9] }, 1)[3]).toBeGreaterThan(0);
  });
});

describe("published rules that the golden sequences leave open", () => {
  test("ByteTrack adds one pixel to widths and heights", () => {
    // IoU of the two boxes: 4 / 28 plain, 10 / 40 with the pixel. The least that matches is 0.2.
    const idAfterShift = (pixelOffset?: number): number => {
      const tracker = createTracker({
        method: "bytetrack",
        fuseScore: false,
        ...(pixelOffset === undefined ? {} : { pixelOffset }),
      });
      tracker.update({ length: 1, boxes: [100, 100, 104, 104], scores: [0.9] }, 0);
      return tracker.update({ length: 1, boxes: [103, 100, 107, 104], scores: [0.9] }, 1)[0];
    };
    expect(idAfterShift()).toBe(1);
    expect(idAfterShift(0)).toBe(0);
  });

  test("ByteTrack keeps the older of a lost and a followed track on one place, and the lost one of equal ages", () => {
    // The first object is lost at x = 0 after its fifth frame. Another one comes there, by low scores at last: these
    // keep followed tracks alone alive. `birth` is its first frame.
    const idsAt = (birth: number): number[] => {
      const tracker = createTracker({ method: "bytetrack" });
      const other = [100, 80, 60, 40, 0].map((x, i) => ({ x, score: i < 2 ? 0.9 : 0.3, frame: 3 + i }));
      other.unshift(
        ...Array.from({ length: 3 - birth }, (_, i) => ({ x: 100, score: 0.9, frame: birth + i })),
      );
      let ids: number[] = [];
      for (let frame = 1; frame <= 7; frame++) {
        const seen = other.filter((one) => one.frame === frame);
        if (frame <= 5) seen.push({ x: 0, score: 0.9, frame });
        const boxes = seen.flatMap(({ x }) => [x, 0, x + 100, 100]);
        const input = { length: seen.length, boxes, scores: seen.map(({ score }) => score) };
        ids = [...tracker.update(input, frame / 30)];
      }
      return ids;
    };
    expect(idsAt(2)).toEqual([2]);
    expect(idsAt(3)).toEqual([0]);
  });

  test("ByteTrack takes out a lost track after maxLost, not at it", () => {
    const idAfter = (frames: number): number => {
      const tracker = createTracker({ method: "bytetrack", maxLost: 10 / 30 });
      const one = { length: 1, boxes: [100, 100, 180, 300], scores: [0.9] };
      for (let frame = 0; frame < 3; frame++) tracker.update(one, frame / 30);
      const none = { length: 0, boxes: [], scores: [] };
      for (let frame = 3; frame < 2 + frames; frame++) tracker.update(none, frame / 30);
      return tracker.update(one, (2 + frames) / 30)[0];
    };
    // A frame without it is counted first: it was last seen ten frames before, then eleven.
    expect(idAfter(11)).toBe(1);
    expect(idAfter(12)).not.toBe(1);
  });

  test("OC-SORT prefers the detection ahead, though the one behind overlaps more", () => {
    const placeOfTrack = (inertia: number): number => {
      const tracker = createTracker({ method: "ocsort", minHits: 1, inertia });
      const boxAt = (x: number): number[] => [x, 0, x + 100, 100];
      for (let i = 0; i < 12; i++) tracker.update({ length: 1, boxes: boxAt(2 * i), scores: [0.9] }, i / 30);
      const boxes = [...boxAt(24 + 8), ...boxAt(24 - 7)];
      return [...tracker.update({ length: 2, boxes, scores: [0.9, 0.9] }, 12 / 30)].indexOf(1);
    };
    expect(placeOfTrack(0)).toBe(1);
    expect(placeOfTrack(0.2)).toBe(0);
  });

  test("OC-SORT leads the filter through a gap along a straight line", () => {
    const options = complete({ method: "ocsort", minHits: 1 }) as ConstructorParameters<typeof OcSort>[0];
    /** Follows one object for frames at these times; null is a frame without it. Returns the filter's state. */
    const stateAfter = (boxes: readonly (readonly number[] | null)[]): Float64Array => {
      const tracker = new OcSort(options);
      const frame = new TrackerFrame();
      boxes.forEach((box, i) => {
        frame.elapsed = i === 0 ? 0 : 1;
        frame.time = i;
        frame.count = i + 1;
        frame.read({ length: box === null ? 0 : 1, boxes: box ?? [], scores: [0.9] }, null, false);
        tracker.step(frame);
      });
      expect(tracker.tracks.id[0]).toBe(1);
      return tracker.tracks.filter.slice(0, FILTER);
    };
    const before = Array.from({ length: 8 }, (_, i) => [100 + 6 * i, 50, 180 + 6 * i, 200]);
    const [last, found] = [before[7], [150, 62, 238, 218]];
    const line = Array.from({ length: 5 }, (_, k) => last.map((v, i) => v + ((found[i] - v) * (k + 1)) / 5));
    const through = stateAfter([...before, null, null, null, null, found]);
    const straight = stateAfter([...before, ...line]);
    // The detection itself is taken once more.
    new AreaFilter().update(straight, 0, Float64Array.of(194, 140, 88 * 156, 88 / 156));
    for (let i = 0; i < FILTER; i++)
      expect(Math.abs(through[i] - straight[i]), `state ${i}`).toBeLessThan(
        1e-5 * (1 + Math.abs(straight[i])),
      );
  });

  test("a score of exactly highThreshold takes part in nothing", () => {
    const tracker = createTracker({ method: "bytetrack", newThreshold: 0.5 });
    const one = (score: number): TrackerInput => ({ length: 1, boxes: [0, 0, 50, 50], scores: [score] });
    expect([0.9, 0.5, 0.49, 0.51].map((score, i) => tracker.update(one(score), i / 30)[0])).toEqual([
      1, 0, 0, 1,
    ]);
  });
});

describe("filters", () => {
  test.each([
    ["area", new AreaFilter(), [100, 80, 4000, 0.4]],
    ["height", new HeightFilter(), [100, 80, 0.4, 100]],
  ] as const)("%s: k frames at once are k steps of one frame", (_, filter, z) => {
    const once = new Float64Array(FILTER);
    filter.start(once, 0, Float64Array.from(z));
    // Give all velocities and covariances a value.
    for (let i = 0; i < 3; i++) {
      filter.predict(once, 0);
      filter.update(
        once,
        0,
        Float64Array.from(z, (v, k) => v * (1 + 0.01 * (i + k))),
      );
    }
    // The noise of the height filter follows the height, so it has to stay.
    if (filter instanceof HeightFilter) filter.holdHeight(once, 0);
    const steps = once.slice();
    for (let i = 0; i < 5; i++) filter.predict(steps, 0);
    filter.setFrames(5);
    filter.predict(once, 0);
    for (let i = 0; i < FILTER; i++) expect(once[i] / (steps[i] || 1)).toBeCloseTo(steps[i] === 0 ? 0 : 1, 9);
  });

  test("start of ByteTrack at a height of 100", () => {
    const f = new Float64Array(FILTER);
    new HeightFilter().start(f, 0, Float64Array.of(50, 60, 0.5, 100));
    const at = (i: number): number[] => Array.from({ length: 4 }, (_, k) => f[5 * k + i]);
    expect(at(2)).toEqual([100, 100, 1e-4, 100]);
    expect(at(4)).toEqual([39.0625, 39.0625, 1e-10, 39.0625]);
  });
});

test("the method is ByteTrack by default", () => {
  const boxes = [10, 10, 50, 90];
  const runs = [
    createTracker(),
    createTracker({ newThreshold: 0.7 }),
    createTracker({ method: "bytetrack" }),
  ];
  for (const tracker of runs) {
    expect(tracker.method).toBe("bytetrack");
    // SORT and OC-SORT would give no id after the first frames.
    expect([...tracker.update({ length: 1, boxes, scores: [0.55] }, 0)]).toEqual([0]);
    expect([...tracker.update({ length: 1, boxes, scores: [0.9] }, 1 / 30)]).toEqual([0]);
    expect([...tracker.update({ length: 1, boxes, scores: [0.9] }, 2 / 30)]).toEqual([1]);
  }
});

describe("what createTracker refuses", () => {
  test.each([
    [[], "options: got []"],
    [{ method: "toString" }, 'method: got "toString", expected one of sort, bytetrack, ocsort'],
    [{ inertia: 0.1 }, "inertia: got an unknown name"],
    [{ method: "sort", max_age: 3 }, "max_age: got an unknown name, expected one of method, size"],
    [{ method: "sort", inertia: 0.1 }, "inertia: got an unknown name"],
    [{ method: "ocsort", inertia: 2 }, "inertia: got 2, expected a number in 0..1"],
    [{ method: "sort", size: [640] }, "size: got [640], expected [width, height]"],
    [{ method: "sort", maxLost: -1 }, "maxLost: got -1"],
    [{ method: "sort", minHits: 1.5 }, "minHits: got 1.5, expected a whole number"],
    [{ method: "bytetrack", fuseScore: 1 }, "fuseScore: got 1, expected true or false"],
  ])("%j", (options, message) => {
    expect(() => createTracker(options as TrackerOptions)).toThrow(RangeError);
    expect(() => createTracker(options as TrackerOptions)).toThrow(message);
  });

  test("units that do not fit", () => {
    const unit = { length: 1, boxes: [0.1, 0.1, 0.5, 0.6], scores: [0.9] };
    expect(() => createTracker({ method: "sort" }).update(unit, 0)).toThrow("size: [width, height]");
    const pixels = { length: 1, boxes: [10, 10, 50, 60], scores: [0.9] };
    expect(() => createTracker({ method: "sort", size: [640, 480] }).update(pixels, 0)).toThrow(
      "a coordinate of 60 and a size",
    );
  });
});

test.each(METHODS)("%j: boxes without area take no part and have id 0", (options) => {
  const tracker = createTracker(options);
  const plain = createTracker(options);
  const good = [10, 10, 60, 90];
  const flat = [
    [30, 30, 30, 80],
    [30, 30, 70, 30],
    [5, 5, 5, 5],
    [60, 90, 10, 10],
    [0, 0, 1e300, 1e300],
    [20, 20, 20 + 1e-12, 90],
  ];
  for (let f = 0; f < 8; f++) {
    const moved = good.map((v) => v + f);
    const boxes = [...flat.slice(0, 3), moved, ...flat.slice(3)];
    const ids = tracker.update(
      { length: 7, boxes: boxes.flat(), scores: Array<number>(7).fill(0.9) },
      f / 30,
    );
    const [own] = plain.update({ length: 1, boxes: moved, scores: [0.9] }, f / 30);
    expect([...ids]).toEqual([0, 0, 0, own, 0, 0, 0]);
    expect(tracker.tracks).toBe(plain.tracks);
    expect([...tracker.boxes.slice(12, 16)]).toEqual([...plain.boxes.slice(0, 4)]);
    expect([...tracker.boxes.slice(0, 12), ...tracker.boxes.slice(16, 28)]).toEqual(Array(24).fill(0));
  }
});

// The cube of 2,000 is minutes: this ends in seconds, or not within the time of a test.
test.each(METHODS)("%j: 2,000 boxes on one spot cost no more than their pairs", (options) => {
  const tracker = createTracker(options);
  const n = 2000;
  const boxes = Array.from({ length: n }, () => [10, 10, 60, 90]).flat();
  for (let f = 0; f < repeats(6, 3); f++) {
    const ids = tracker.update({ length: n, boxes, scores: Array<number>(n).fill(0.9) }, f / 30);
    expect(new Set(ids.filter((id) => id > 0)).size).toBe(ids.filter((id) => id > 0).length);
  }
  expect(tracker.tracks).toBe(n);
});
