import fc from "fast-check";
import { expect, test } from "vitest";
import { DrawError } from "../../src/picture/drawn.ts";
import { imageInfo, withoutExif } from "../../src/picture/image-info.ts";
import { drawSvg } from "../../src/picture/svg.ts";
import { exif, jpeg, photo, png, turnedPng } from "../support/pictures.ts";
import { repeats } from "../support/effort.ts";

test("reads the size of PNG and JPEG", () => {
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

test("refuses values that are not bytes", () => {
  for (const given of ["photo.png", new ArrayBuffer(50), null])
    expect(() => drawSvg(given as unknown as Uint8Array, [])).toThrow(
      /got .*, expected the bytes of a PNG or JPEG/,
    );
});

test("returns the upright size of a photo that lies on its side", () => {
  expect(imageInfo(jpeg(640, 480, exif(1)))).toMatchObject({ width: 640, height: 480, orientation: 1 });
  expect(imageInfo(jpeg(640, 480, exif(3, false)))).toMatchObject({
    width: 640,
    height: 480,
    orientation: 3,
  });
  expect(imageInfo(jpeg(640, 480, exif(6)))).toMatchObject({ width: 480, height: 640, orientation: 6 });
  expect(imageInfo(jpeg(640, 480, exif(77)))).toMatchObject({ width: 640, orientation: 1 });
});

test("a PNG with eXIf lies on its side as a JPEG does (PNG, third edition, 11.3.4.4)", () => {
  const plain = png(640, 480);
  const at = (orientation: number, little?: boolean) => imageInfo(turnedPng(plain, orientation, little));
  expect(at(1)).toEqual({ mime: "image/png", width: 640, height: 480, orientation: 1 });
  expect(at(3, false)).toMatchObject({ width: 640, height: 480, orientation: 3 });
  expect(at(6)).toMatchObject({ width: 480, height: 640, orientation: 6 });
  expect(at(77)).toMatchObject({ width: 640, orientation: 1 });
  // The picture stands turned in an SVG: viewers must not turn it again.
  expect(Buffer.from(withoutExif(turnedPng(plain, 6)))).toEqual(Buffer.from(plain));
  expect(drawSvg(turnedPng(plain, 6), [])).toContain("matrix(0 1 -1 0 480 0)");
  for (let n = 24; n < 100; n++)
    expect(imageInfo(turnedPng(plain, 6).subarray(0, n)).mime, String(n)).toBe("image/png");
});

test("skips filling bytes and other segments", () => {
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
  ["a cut PNG", photo("chelsea.png").subarray(0, 20), /got the first 20 bytes of a PNG/],
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

test("any bytes give a size or a DrawError", () => {
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
    { numRuns: repeats(3000, 500) },
  );
});
