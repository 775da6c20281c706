import { readFileSync } from "node:fs";
import { deflateSync, inflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { DrawError, colourOf, drawPng, drawSvg, imageInfo, rasterise } from "../../src/picture/draw.ts";
import type { Drawn } from "../../src/picture/draw.ts";

const photo = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../fixtures/photos/${name}`, import.meta.url)));

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** A PNG of one colour, by the letter of the format. */
function png(width: number, height: number, [r, g, b]: readonly number[] = [128, 128, 128]): Uint8Array {
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length);
    out.set(body, 4);
    let crc = -1;
    for (const byte of body) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
    out.writeUInt32BE(~crc >>> 0, body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const row = Buffer.concat([
    Buffer.from([0]),
    ...Array.from({ length: width }, () => Buffer.from([r, g, b])),
  ]);
  const rows = Buffer.concat(Array.from({ length: height }, () => row));
  const parts = [
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", new Uint8Array(0)),
  ];
  return new Uint8Array(Buffer.concat(parts));
}

/** Pixels of a PNG as resvg writes it: 8-bit RGBA, no interlacing. */
function pixels(bytes: Uint8Array): { width: number; height: number; at(x: number, y: number): number[] } {
  const file = Buffer.from(bytes);
  const { width, height } = imageInfo(bytes);
  const parts: Buffer[] = [];
  for (let at = 8; at < file.length; at += file.readUInt32BE(at) + 12)
    if (file.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * 4;
  const out = Buffer.alloc(stride * height);
  const paeth = (a: number, b: number, c: number) => {
    const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
  };
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)];
    for (let i = 0; i < stride; i++) {
      const a = i >= 4 ? out[y * stride + i - 4] : 0;
      const b = y > 0 ? out[(y - 1) * stride + i] : 0;
      const c = i >= 4 && y > 0 ? out[(y - 1) * stride + i - 4] : 0;
      const add = [0, a, b, (a + b) >> 1, paeth(a, b, c)][filter];
      out[y * stride + i] = raw[y * (stride + 1) + 1 + i] + add;
    }
  }
  return { width, height, at: (x, y) => [...out.subarray(y * stride + x * 4, y * stride + x * 4 + 4)] };
}

const rgb = (colour: string) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));

const box = (
  x_min: number,
  y_min: number,
  x_max: number,
  y_max: number,
  more: Partial<Drawn> = {},
): Drawn => ({
  class_id: 0,
  label: "cat",
  confidence: 0.5,
  x_min,
  y_min,
  x_max,
  y_max,
  ...more,
});

const attribute = (element: string, name: string) =>
  Number(new RegExp(` ${name}="([^"]*)"`).exec(element)?.[1]);
const rects = (svg: string) =>
  (svg.match(/<rect [^>]*>/g) ?? []).map((r) => ({
    filled: !r.includes('fill="none"'),
    x: attribute(r, "x"),
    y: attribute(r, "y"),
    right: attribute(r, "x") + attribute(r, "width"),
    bottom: attribute(r, "y") + attribute(r, "height"),
  }));

/** Start of a JPEG up to its frame header; `segments` stand before it. */
function jpeg(width: number, height: number, ...segments: Uint8Array[]): Uint8Array {
  const sof = Buffer.from([
    0xff,
    0xc0,
    0,
    17,
    8,
    height >> 8,
    height & 255,
    width >> 8,
    width & 255,
    3,
    1,
    0x11,
    0,
    2,
    0x11,
    0,
    3,
    0x11,
    0,
  ]);
  return new Uint8Array(
    Buffer.concat([Buffer.from([0xff, 0xd8]), ...segments, sof, Buffer.from([0xff, 0xd9])]),
  );
}
function exif(orientation: number, little = true): Uint8Array {
  const tiff = Buffer.alloc(26);
  tiff.write(little ? "II" : "MM");
  const u16 = (v: number, at: number) => (little ? tiff.writeUInt16LE(v, at) : tiff.writeUInt16BE(v, at));
  const u32 = (v: number, at: number) => (little ? tiff.writeUInt32LE(v, at) : tiff.writeUInt32BE(v, at));
  u16(42, 2);
  u32(8, 4);
  u16(1, 8);
  u16(0x0112, 10);
  u16(3, 12);
  u32(1, 14);
  u16(orientation, 18);
  const body = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff]);
  return Buffer.concat([Buffer.from([0xff, 0xe1, 0, body.length + 2]), body]);
}

describe("imageInfo", () => {
  test("size of PNG and JPEG", () => {
    expect(imageInfo(photo("chelsea.png"))).toEqual({
      mime: "image/png",
      width: 451,
      height: 300,
      orientation: 1,
    });
    expect(imageInfo(photo("coffee.jpg"))).toEqual({
      mime: "image/jpeg",
      width: 600,
      height: 400,
      orientation: 1,
    });
    expect(imageInfo(photo("astronaut.jpg"))).toMatchObject({ width: 512, height: 512 });
  });

  test("no bytes at all", () => {
    for (const given of ["photo.png", new ArrayBuffer(50), null])
      expect(() => drawSvg(given as unknown as Uint8Array, [])).toThrow(
        /got .*, expected the bytes of a PNG or JPEG/,
      );
  });

  test("a photo that lies on its side is measured upright", () => {
    expect(imageInfo(jpeg(640, 480, exif(1)))).toMatchObject({ width: 640, height: 480, orientation: 1 });
    expect(imageInfo(jpeg(640, 480, exif(3, false)))).toMatchObject({
      width: 640,
      height: 480,
      orientation: 3,
    });
    expect(imageInfo(jpeg(640, 480, exif(6)))).toMatchObject({ width: 480, height: 640, orientation: 6 });
    expect(imageInfo(jpeg(640, 480, exif(77)))).toMatchObject({ width: 640, orientation: 1 });
  });

  test("filling bytes and other segments are passed over", () => {
    expect(
      imageInfo(
        jpeg(
          7,
          5,
          Buffer.from([0xff, 0xff, 0xe0, 0, 4, 1, 2]),
          Buffer.from([0xff, 0xc4, 0, 9, 1, 2, 3, 4, 5, 6, 7]),
        ),
      ),
    ).toMatchObject({ width: 7, height: 5 });
  });

  test.each<[string, Uint8Array, RegExp]>([
    ["an empty file", new Uint8Array(0), /photo: got an empty file, expected a PNG or JPEG/],
    ["a GIF", Buffer.from("GIF89a.."), /got a file that begins with 47 49 46 38 39 61 2e 2e/],
    ["a cut PNG", photo("chelsea.png").subarray(0, 20), /begins with 89 50/],
    ["a cut JPEG", photo("coffee.jpg").subarray(0, 100), /got a JPEG without a frame header/],
    ["a PNG of no size", png(0, 4), /got a size of 0 x 4/],
    [
      "a PNG of 4 billion pixels",
      Buffer.from(png(2, 2)).fill(0xff, 16, 24),
      /got a size of 4294967295 x 4294967295, expected 1 to 65535/,
    ],
  ])("refuses %s", (_, bytes, message) => {
    expect(() => imageInfo(bytes)).toThrow(DrawError);
    expect(() => imageInfo(bytes)).toThrow(message);
  });

  test("any bytes: a size, or DrawError", () => {
    const start = fc.constantFrom(
      "",
      "\x89PNG\r\n\x1a\n",
      "\xff\xd8\xff\xe1\x00\x22Exif\x00\x00II*\x00",
      "\xff\xd8\xff",
    );
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 120 }), (s, rest) => {
        try {
          imageInfo(new Uint8Array(Buffer.concat([Buffer.from(s, "latin1"), rest])));
        } catch (e) {
          expect(e).toBeInstanceOf(DrawError);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

describe("drawSvg", () => {
  test("is one file: the photo inside, nothing linked", () => {
    const svg = drawSvg(photo("chelsea.png"), [box(0.1, 0.2, 0.5, 0.6)]);
    expect(svg).toContain('width="451" height="300" viewBox="0 0 451 300"');
    expect(svg).toContain('<image width="451" height="300" href="data:image/png;base64,iVBORw0KGgo');
    expect(svg.match(/href=/g)).toHaveLength(1);
    expect(svg).toContain(">cat 50%</text>");
    expect(Buffer.from(/base64,([^"]*)/.exec(svg)![1], "base64")).toEqual(Buffer.from(photo("chelsea.png")));
  });

  test("a class without a label shows its number; a tag of one's own is possible", () => {
    expect(drawSvg(png(100, 100), [box(0, 0, 1, 1, { label: null, class_id: 7 })])).toContain(
      ">class 7 50%</text>",
    );
    expect(drawSvg(png(100, 100), [box(0, 0, 1, 1)], { tag: (d) => d.confidence.toFixed(3) })).toContain(
      ">0.500</text>",
    );
    expect(drawSvg(png(100, 100), [box(0, 0, 1, 1)], { tag: () => "" })).not.toContain("<text");
  });

  test("text is escaped, and what XML forbids is replaced", () => {
    const svg = drawSvg(png(100, 100), [box(0, 0, 1, 1, { label: "<script>&\"'\u0000\ud800x" })], {
      title: "a<b",
    });
    expect(svg).not.toContain("<script>");
    expect(svg).toContain("&#60;script&#62;&#38;&#34;&#39;\ufffd\ufffdx 50%");
    expect(svg).toContain("<title>a&#60;b</title>");
  });

  test("classes have colours, neighbours differ, any id has one", () => {
    expect(new Set([0, 1, 2, 3, 4, 5].map(colourOf)).size).toBe(6);
    for (const id of [-1, 0.5, 1e9, NaN, Infinity]) expect(colourOf(id)).toMatch(/^#[0-9a-f]{6}$/);
  });

  test("two classes of one picture differ, whatever their numbers", () => {
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

  test("numbers that are none are refused", () => {
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
      'got options "x", expected an object',
    );
    const unnumbered = { ...box(0, 0, 1, 1), class_id: undefined } as unknown as Drawn;
    expect(() => drawSvg(png(10, 10), [unnumbered])).toThrow(/expected finite class_id/);
  });

  test("pixels are refused, boxes in 0..1 that stand out of the photo are not", () => {
    for (const [x0, y0, x1, y1] of [
      [120, 80, 300, 240],
      [0, 0, 200, 300],
      [0.5, 20, 31, 90],
    ]) {
      const draw = () => drawSvg(png(640, 480), [box(0.1, 0.1, 0.2, 0.2), box(x0, y0, x1, y1)]);
      expect(draw).toThrow(DrawError);
      expect(draw).toThrow(
        `got a box from (${x0}, ${y0}) to (${x1}, ${y1}), expected coordinates 0..1, not after toPixels`,
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

  test("whatever the boxes, lines and tags stay inside the photo", () => {
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

  test("tags of boxes in one place get places of their own", () => {
    const tags = rects(
      drawSvg(
        png(400, 400),
        [0.9, 0.8, 0.7].map((confidence) => box(0.2, 0.3, 0.8, 0.8, { confidence })),
      ),
    ).filter((r) => r.filled);
    for (const a of tags)
      for (const b of tags)
        if (a !== b)
          expect(a.x >= b.right || b.x >= a.right || a.y >= b.bottom || b.y >= a.bottom).toBe(true);
  });

  test("EXIF is taken out of the picture, and its turn written down instead", () => {
    const svg = drawSvg(jpeg(40, 30, exif(6)), []);
    expect(svg).toContain('viewBox="0 0 30 40"');
    expect(svg).toContain('<image width="40" height="30" transform="matrix(0 1 -1 0 30 0)"');
    expect(Buffer.from(/base64,([^"]*)/.exec(svg)![1], "base64")).toEqual(Buffer.from(jpeg(40, 30)));
  });
});

describe("PNG", () => {
  test("boxes are where they should be, in the colour of their class", async () => {
    const out = pixels(await drawPng(png(640, 640), [box(0.5, 0.25, 0.9, 0.75, { class_id: 2 })]));
    expect([out.width, out.height]).toEqual([640, 640]);
    const colour = [...rgb(colourOf(2)), 255];
    for (const [x, y] of [[450, 160], [450, 479], [320, 300], [575, 300]]) expect(out.at(x, y)).toEqual(colour); // prettier-ignore
    const grey = [128, 128, 128, 255];
    for (const [x, y] of [[5, 5], [450, 300], [310, 300], [586, 300], [450, 490]]) expect(out.at(x, y)).toEqual(grey); // prettier-ignore
  });

  test("the label is written, without any font of the system", async () => {
    const dark = async (label: string) => {
      const list = [box(0.1, 0.5, 0.9, 0.9, { class_id: 3, label })];
      const [tag] = rects(drawSvg(png(640, 640), list, { tag: (d) => d.label! })).filter((r) => r.filled);
      const out = pixels(await drawPng(png(640, 640), list, { tag: (d) => d.label! }));
      let count = 0;
      for (let y = Math.ceil(tag.y) + 2; y < tag.bottom - 2; y++)
        for (let x = Math.ceil(tag.x) + 2; x < tag.right - 2; x++)
          if (
            out
              .at(x, y)
              .slice(0, 3)
              .every((v) => v < 60)
          )
            count++;
      return count;
    };
    expect(await dark("   ")).toBe(0);
    expect(await dark("WM%")).toBeGreaterThan(150);
  });

  test.each(["chelsea.png", "coffee.jpg"])("on %s, and at another width", async (name) => {
    const { width, height } = imageInfo(photo(name));
    expect(imageInfo(await drawPng(photo(name), [box(0.1, 0.1, 0.5, 0.5)]))).toMatchObject({
      mime: "image/png",
      width,
      height,
    });
    expect(imageInfo(await drawPng(photo(name), [], { width: width * 2 }))).toMatchObject({
      width: width * 2,
      height: height * 2,
    });
  });

  test("a turned photo is drawn upright, for all eight orientations of EXIF", async () => {
    const plain = photo("coffee.jpg");
    const upright = pixels(await drawPng(plain, []));
    const { width: w, height: h } = upright;
    // where the stored pixel x, y is seen, by the table of the EXIF standard
    const seen: Record<number, (x: number, y: number) => [number, number]> = {
      1: (x, y) => [x, y],
      2: (x, y) => [w - 1 - x, y],
      3: (x, y) => [w - 1 - x, h - 1 - y],
      4: (x, y) => [x, h - 1 - y],
      5: (x, y) => [y, x],
      6: (x, y) => [h - 1 - y, x],
      7: (x, y) => [h - 1 - y, w - 1 - x],
      8: (x, y) => [y, w - 1 - x],
    };
    for (const [orientation, place] of Object.entries(seen)) {
      const turned = Buffer.concat([plain.subarray(0, 2), exif(Number(orientation)), plain.subarray(2)]);
      const out = pixels(await drawPng(new Uint8Array(turned), []));
      for (const [x, y] of [
        [3, 5],
        [590, 20],
        [300, 100],
        [130, 380],
        [420, 300],
      ] as const) {
        const [got, want] = [out.at(...place(x, y)), upright.at(x, y)];
        got.forEach((v, i) =>
          expect(Math.abs(v - want[i]), `orientation ${orientation} at ${x}, ${y}`).toBeLessThan(12),
        );
      }
    }
  });

  test("a photo that cannot be decoded is refused, whatever is drawn over it", async () => {
    const refused = /photo: got an image that cannot be decoded, expected a whole PNG or JPEG file/;
    const list = [box(0.1, 0.1, 0.9, 0.9)];
    for (const whole of [photo("coffee.jpg"), photo("chelsea.png"), png(90, 90)]) {
      const begun = whole.subarray(0, Math.min(700, whole.length / 2));
      await expect(drawPng(begun, list)).rejects.toThrow(refused);
      await expect(rasterise(drawSvg(begun, []), { width: 33 })).rejects.toThrow(refused);
      await expect(drawPng(whole, list, { width: 33 })).resolves.toBeInstanceOf(Uint8Array);
    }
    // of colour types that may be clear: a palette with nothing clear, grey with alpha
    for (const type of [3, 4]) {
      const other = png(90, 90);
      other[25] = type;
      await expect(drawPng(other.subarray(0, -20), list)).rejects.toThrow(refused);
    }
    // a header alone, whose picture the decoder leaves out
    await expect(drawPng(jpeg(40, 30), list)).rejects.toThrow(refused);
  });

  test("a size that memory cannot hold, or none at all, is refused before the library meets it", async () => {
    const wide = drawSvg(png(300, 1), []);
    for (const width of [1, 0, -5, 2.5, NaN])
      await expect(rasterise(wide, { width })).rejects.toThrow(
        `got ${width} for a photo of 300 x 1, expected whole pixels, one or more a side`,
      );
    const whole = drawSvg(png(40, 30), []);
    for (const [width, height] of [
      [100_000, 75_000],
      [2 ** 31 - 1, 1610612735],
    ])
      await expect(rasterise(whole, { width })).rejects.toThrow(
        `got a picture of ${width} x ${height} pixels, expected at most 268435456 for a PNG`,
      );
    const claims = png(40, 30);
    claims.set([0, 0, 255, 255, 0, 0, 255, 255], 16);
    await expect(drawPng(claims, [], { width: 10 })).rejects.toThrow(
      /got a photo of 65535 x 65535 pixels, expected at most/,
    );
  });

  test("a font that is none is refused", async () => {
    await expect(rasterise("<svg/>", { font: "/no/such.ttf" })).rejects.toThrow(
      /got no file that can be read, expected a .ttf or .otf font/,
    );
    const file = new URL("../fixtures/README.md", import.meta.url).pathname;
    await expect(drawPng(png(90, 90), [box(0, 0, 1, 1)], { font: file })).rejects.toThrow(
      /got no usable font/,
    );
  });

  test("says which package is missing", async () => {
    vi.doMock("@resvg/resvg-js", () => {
      throw new Error("Cannot find package");
    });
    await expect(rasterise("<svg/>")).rejects.toThrow(
      /expected the optional package that rasterises it: npm install @resvg\/resvg-js/,
    );
    vi.doUnmock("@resvg/resvg-js");
  });
});
