import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { drawPng, rasterise } from "../../src/node/raster.ts";
import { colourOf } from "../../src/picture/colours.ts";
import { imageInfo } from "../../src/picture/image-info.ts";
import { drawSvg } from "../../src/picture/svg.ts";
import { readImage, upright } from "../../src/node/images.ts";
import { box, exif, jpeg, photo, pixels, png, rects, rgb, turnedPng } from "../support/pictures.ts";

test("draws boxes at their coordinates, in the colour of their class", async () => {
  const out = pixels(await drawPng(png(640, 640), [box(0.5, 0.25, 0.9, 0.75, { class_id: 2 })]));
  expect([out.width, out.height]).toEqual([640, 640]);
  const colour = [...rgb(colourOf(2)), 255];
  // prettier-ignore
  const onLine = [[450, 160], [450, 479], [320, 300], [575, 300]];
  for (const [x, y] of onLine) expect(out.at(x, y)).toEqual(colour);
  const grey = [128, 128, 128, 255];
  // prettier-ignore
  const elsewhere = [[5, 5], [450, 300], [310, 300], [586, 300], [450, 490]];
  for (const [x, y] of elsewhere) expect(out.at(x, y)).toEqual(grey);
});

test("writes labels with the packaged font", async () => {
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

test.each(["chelsea.png", "coffee.jpg"])("keeps the size of %s, or takes another width", async (name) => {
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

test("reads a turned PNG upright, as the JPEG of the same orientation", async () => {
  const plain = photo("chelsea.png");
  const stored = await readImage(plain, "photo");
  for (let orientation = 1; orientation <= 8; orientation++) {
    const turned = await readImage(turnedPng(plain, orientation), "photo");
    expect(turned).toEqual(upright(stored, orientation));
    if (orientation >= 5) expect([turned.width, turned.height]).toEqual([300, 451]);
  }
});

test("draws a turned photo upright, for all eight orientations of EXIF", async () => {
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

test("refuses a photo that cannot be decoded, even if boxes cover it", async () => {
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

test("refuses a size that memory cannot hold, and a size of nothing", async () => {
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

test("refuses a font that cannot be used", async () => {
  await expect(rasterise("<svg/>", { font: "/no/such.ttf" })).rejects.toThrow(
    /got no file that can be read, expected a .ttf or .otf font/,
  );
  const file = fileURLToPath(new URL("../fixtures/README.md", import.meta.url));
  await expect(drawPng(png(90, 90), [box(0, 0, 1, 1)], { font: file })).rejects.toThrow(
    /README.md: got a file that is no usable font, expected a .ttf or .otf font with Latin letters/,
  );
});

test("names the package that is missing", async () => {
  vi.doMock("@resvg/resvg-js", () => {
    throw new Error("Cannot find package");
  });
  await expect(rasterise("<svg/>")).rejects.toThrow(
    /a PNG needs an optional package that is not installed. Run npm install @resvg\/resvg-js dejavu-fonts-ttf/,
  );
  vi.doUnmock("@resvg/resvg-js");
});

test("draws on the pixels that a detector got, as on the file of them", async () => {
  const rgba = await readImage(photo("chelsea.png"));
  const list = [box(0.1, 0.1, 0.5, 0.5)];
  const drawn = Buffer.from(await drawPng(photo("chelsea.png"), list));
  const taken = (...places: number[]) =>
    Uint8Array.from(
      { length: rgba.width * rgba.height * places.length },
      (_, i) => rgba.data[Math.floor(i / places.length) * 4 + places[i % places.length]],
    );
  const { width, height } = rgba;
  const same = [
    rgba,
    { width, height, data: taken(0, 1, 2), channels: 3 },
    { width, height, data: taken(2, 1, 0), format: "bgr" },
    { width, height, data: taken(2, 1, 0, 3), format: "bgra" },
  ] as const;
  for (const image of same) expect(drawn.equals(await drawPng(image, list))).toBe(true);
  const grey = {
    width: 2,
    height: 2,
    data: Uint8Array.of(9, 8, 0, 0, 7, 6),
    format: "gray",
    stride: 4,
  } as const;
  const out = pixels(await drawPng(grey, []));
  expect([out.at(0, 0), out.at(1, 0), out.at(0, 1), out.at(1, 1)].map(([red]) => red)).toEqual([9, 8, 7, 6]);
  await expect(drawPng({ ...grey, data: new Uint8Array(6), format: "nv12", stride: 2 }, [])).rejects.toThrow(
    'photo: got pixels of format "nv12", expected "rgba", "bgra", "rgb", "bgr" or "gray"',
  );
  await expect(drawPng({ ...grey, data: new Uint8Array(1) }, [])).rejects.toThrow("image: data: got 1 bytes");
});
