import fc from "fast-check";
import { expect, test } from "vitest";
import { colourOf } from "../../src/picture/colours.ts";
import { DrawError, type Drawn } from "../../src/picture/drawn.ts";
import { drawSvg } from "../../src/picture/svg.ts";
import { placeTag } from "../../src/picture/tags.ts";
import { box, exif, jpeg, photo, png, rects } from "../support/pictures.ts";

test("embeds the photo and links to nothing", () => {
  const svg = drawSvg(photo("chelsea.png"), [box(0.1, 0.2, 0.5, 0.6)]);
  expect(svg).toContain('width="451" height="300" viewBox="0 0 451 300"');
  expect(svg).toContain('<image width="451" height="300" href="data:image/png;base64,iVBORw0KGgo');
  expect(svg.match(/href=/g)).toHaveLength(1);
  expect(svg).toContain(">cat 50%</text>");
  expect(Buffer.from(/base64,([^"]*)/.exec(svg)![1], "base64")).toEqual(Buffer.from(photo("chelsea.png")));
});

test("writes label and confidence, or class id and confidence, or the text of the option tag", () => {
  expect(drawSvg(png(100, 100), [box(0, 0, 1, 1, { label: null, class_id: 7 })])).toContain(
    ">class 7 50%</text>",
  );
  expect(drawSvg(png(100, 100), [box(0, 0, 1, 1)], { tag: (d) => d.confidence.toFixed(3) })).toContain(
    ">0.500</text>",
  );
  expect(drawSvg(png(100, 100), [box(0, 0, 1, 1)], { tag: () => "" })).not.toContain("<text");
  // The row is that of the list, whatever is drawn first: ids of a tracker stand in this order.
  const two = [box(0, 0, 0.4, 1, { confidence: 0.5 }), box(0.6, 0, 1, 1, { confidence: 0.9 })];
  const svg = drawSvg(png(100, 100), two, { tag: (d, row) => `${d.confidence}:${["a", "b"][row]}` });
  expect(svg.match(/[\d.]+:[ab](?=<\/text>)/g)?.sort()).toEqual(["0.5:a", "0.9:b"]);
});

test("escapes text, and replaces characters that XML forbids", () => {
  const svg = drawSvg(png(100, 100), [box(0, 0, 1, 1, { label: "<script>&\"'\u0000\ud800x" })], {
    title: "a<b",
  });
  expect(svg).not.toContain("<script>");
  expect(svg).toContain("&#60;script&#62;&#38;&#34;&#39;\ufffd\ufffdx 50%");
  expect(svg).toContain("<title>a&#60;b</title>");
});

test("gives every class id a colour, and neighbours different ones", () => {
  expect(new Set([0, 1, 2, 3, 4, 5].map(colourOf)).size).toBe(6);
  for (const id of [-1, 0.5, 1e9, NaN, Infinity]) expect(colourOf(id)).toMatch(/^#[0-9a-f]{6}$/);
});

test("gives the classes of one picture different colours", () => {
  const fills = (ids: number[]) => {
    const svg = drawSvg(
      png(90, 90),
      ids.map((class_id) => box(0, 0, 1, 1, { class_id })),
    );
    return new Set([...svg.matchAll(/rx="[^"]*" fill="(#\w+)"/g)].map((m) => m[1])).size;
  };
  expect(fills([47, 67])).toBe(2);
  expect(fills([0, 20, 40, 1, 1])).toBe(4);
  expect(fills(Array.from({ length: 50 }, (_, i) => i * 20))).toBe(20);
});

test("refuses detections and options that are none", () => {
  expect(() => drawSvg(png(10, 10), [box(NaN, 0, 1, 1)])).toThrow(
    /got detection \{"class_id":0,.*expected finite/,
  );
  expect(() => drawSvg(png(10, 10), [null as unknown as Drawn])).toThrow(DrawError);
  for (const none of [null, {}, 3])
    expect(() => drawSvg(png(10, 10), none as Drawn[])).toThrow(
      /got detections .*, expected what decode returned/,
    );
  expect(drawSvg(png(10, 10), [], null as unknown as undefined)).toBe(drawSvg(png(10, 10), []));
  expect(() => drawSvg(png(10, 10), [], "x" as unknown as object)).toThrow(
    'options: got "x", expected an object',
  );
  const unnumbered = { ...box(0, 0, 1, 1), class_id: undefined } as unknown as Drawn;
  expect(() => drawSvg(png(10, 10), [unnumbered])).toThrow(/expected finite class_id/);
});

test("refuses boxes in pixels, and draws normalised boxes outside the photo", () => {
  for (const [x0, y0, x1, y1] of [
    [120, 80, 300, 240],
    [0, 0, 200, 300],
    [0.5, 20, 31, 90],
  ]) {
    const draw = () => drawSvg(png(640, 480), [box(0.1, 0.1, 0.2, 0.2), box(x0, y0, x1, y1)]);
    expect(draw).toThrow(DrawError);
    expect(draw).toThrow(
      `got a box from (${x0}, ${y0}) to (${x1}, ${y1}), expected coordinates 0..1. Pass the detections as they were before toPixels.`,
    );
  }
  for (const [x0, y0, x1, y1] of [
    [-1e4, -1e4, 1e4, 1e4], // around the photo, as a raw network of no sense makes them
    [0.9, 0.9, 3, 3],
    [0.4, 40, 0.6, 55], // in the padding of a letterboxed photo, far flatter than the input
    [40, 0.4, 55, 0.6],
    [-40, -40, -30, -30],
    [2.5, 2.5, 3, 3],
  ])
    expect(drawSvg(png(640, 480), [box(x0, y0, x1, y1)])).toContain("<rect");
});

const coordinate = fc.double({ min: -3, max: 3, noNaN: true });
const drawn = fc.record({
  class_id: fc.nat(200),
  label: fc.string({ unit: "binary", maxLength: 40 }),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  x_min: coordinate,
  y_min: coordinate,
  x_max: coordinate,
  y_max: coordinate,
});

test("keeps lines and tags of any boxes inside the photo", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 300 }),
      fc.array(drawn, { maxLength: 8 }),
      (w, h, list) => {
        const found = rects(drawSvg(png(w, h).subarray(0, 33), list));
        expect(found.filter((r) => r.filled)).toHaveLength(list.length);
        for (const r of found) {
          expect(Math.min(r.x, r.y)).toBeGreaterThanOrEqual(-0.01);
          // a photo of fewer pixels than the line is wide cannot hold it
          expect(r.right).toBeLessThanOrEqual(Math.max(w, 1.5) + 0.02);
          expect(r.bottom).toBeLessThanOrEqual(Math.max(h, 1.5) + 0.02);
        }
      },
    ),
    { numRuns: 200 },
  );
});

test("keeps the tags of equal boxes apart", () => {
  const tags = rects(
    drawSvg(
      png(400, 400),
      [0.9, 0.8, 0.7].map((confidence) => box(0.2, 0.3, 0.8, 0.8, { confidence })),
    ),
  ).filter((r) => r.filled);
  for (const a of tags)
    for (const b of tags)
      if (a !== b) expect(a.x >= b.right || b.x >= a.right || a.y >= b.bottom || b.y >= a.bottom).toBe(true);
});

test("removes EXIF, and turns the photo by a matrix", () => {
  const svg = drawSvg(jpeg(40, 30, exif(6)), []);
  expect(svg).toContain('viewBox="0 0 30 40"');
  expect(svg).toContain('<image width="40" height="30" transform="matrix(0 1 -1 0 30 0)"');
  expect(Buffer.from(/base64,([^"]*)/.exec(svg)![1], "base64")).toEqual(Buffer.from(jpeg(40, 30)));
});

test("looks for a place for the tags of the 500 best boxes, and compares the others with none", () => {
  let reads = 0;
  const counted = Object.defineProperty({}, "x", {
    get: () => {
      reads++;
      return 0;
    },
  });
  const canvas = { width: 1000, height: 1000, stroke: 2 };
  const place = { x: 100, y: 100, width: 400, height: 400 };
  const other = Object.assign(counted, { y: 0, width: 1000, height: 1000 }) as typeof place;
  const placed = Array.from({ length: 499 }, () => other);
  placeTag("cat 50%", place, canvas, placed);
  expect(reads).toBeGreaterThan(499);
  reads = 0;
  placed.push(other);
  const { area } = placeTag("cat 50%", place, canvas, placed);
  expect(reads).toBe(0);
  // It stands above its box.
  expect(area).toMatchObject({ x: 99, y: 99 - area.height });
});

test("draws 20,000 boxes in one place", () => {
  const svg = drawSvg(png(640, 480), Array<Drawn>(20_000).fill(box(0.2, 0.2, 0.8, 0.8)));
  expect(svg.match(/<text/g)).toHaveLength(20_000);
});
