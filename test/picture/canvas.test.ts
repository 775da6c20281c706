import fc from "fast-check";
import { expect, test } from "vitest";
import { type CanvasContext, DrawError, type Drawn, drawCanvas, drawSvg } from "../../src/entries/index.ts";
import { box, png } from "../support/pictures.ts";

interface Call {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly state: { readonly [name: string]: unknown };
}

/** A context that writes down what is drawn, and with which styles. */
function recorder(width: number, height: number): { context: CanvasContext; calls: Call[] } {
  const calls: Call[] = [];
  const state: Record<string, unknown> = {};
  const context = new Proxy(state, {
    get: (_, name: string) =>
      name === "canvas"
        ? { width, height }
        : (state[name] ?? ((...args: unknown[]) => calls.push({ name, args, state: { ...state } }))),
  }) as unknown as CanvasContext;
  return { context, calls };
}

const drawn = fc.record({
  class_id: fc.nat(200),
  label: fc.string({ maxLength: 12 }),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  x_min: fc.double({ min: -0.5, max: 1, noNaN: true }),
  y_min: fc.double({ min: -0.5, max: 1, noNaN: true }),
  x_max: fc.double({ min: 0, max: 1.5, noNaN: true }),
  y_max: fc.double({ min: 0, max: 1.5, noNaN: true }),
});

/** Numbers as an SVG has them. */
const decimals = (values: readonly unknown[]): string =>
  values.map((v) => Math.round(Number(v) * 100) / 100).join(" ");
const attributes = (element: string, ...names: string[]): string =>
  decimals(names.map((name) => new RegExp(` ${name}="([^"]*)"`).exec(element)?.[1]));

test.each([
  [5, "5"],
  [undefined, "nothing"],
  [null, "null"],
])("a tag that is %j is refused", (tag, shown) => {
  const { context } = recorder(64, 48);
  const options = { tag: () => tag as unknown as string };
  const message = `got ${shown} from the function tag, expected a text`;
  expect(() => drawCanvas(context, [box(0.1, 0.1, 0.5, 0.5)], options)).toThrow(new DrawError(message));
  expect(() => drawSvg(png(64, 48).subarray(0, 33), [box(0.1, 0.1, 0.5, 0.5)], options)).toThrow(
    new DrawError(message),
  );
});

test("draws the lines, tags and texts of drawSvg, in the same order", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 40, max: 900 }),
      fc.integer({ min: 40, max: 900 }),
      fc.array(drawn, { maxLength: 8 }),
      (width, height, list) => {
        const tag = (d: Drawn): string => `t${d.class_id}`;
        const { context, calls } = recorder(width, height);
        drawCanvas(context, list, { tag });
        const svg = drawSvg(png(width, height).subarray(0, 33), list, { tag });
        const elements = svg.match(/<(rect|text) [^>]*>/g) ?? [];
        const lines = elements
          .filter((e) => e.includes('fill="none"'))
          .map(
            (e) =>
              `${attributes(e, "x", "y", "width", "height", "stroke-width")} ${/stroke="(.*?)"/.exec(e)?.[1]}`,
          );
        const strokes = calls
          .filter(({ name }) => name === "strokeRect")
          .map(
            ({ args, state }) => `${decimals([...args, state["lineWidth"]])} ${String(state["strokeStyle"])}`,
          );
        expect(strokes).toEqual(lines);
        const texts = elements
          .filter((e) => e.startsWith("<text"))
          .map(
            (e) => `${attributes(e, "x", "y", "textLength", "font-size")} ${/ fill="(.*?)"/.exec(e)?.[1]}`,
          );
        const written = calls
          .filter(({ name }) => name === "fillText")
          .map(({ args: [, ...place], state }) => {
            const size = parseFloat(String(state["font"]));
            return `${decimals([...place, size])} ${String(state["fillStyle"])}`;
          });
        expect(written).toEqual(texts);
        const tags = elements
          .filter((e) => e.includes(" rx="))
          .map((e) => `${attributes(e, "x", "y")} ${/ fill="(.*?)"/.exec(e)?.[1]}`);
        const filled = calls.flatMap(({ name, state }, i) => {
          if (name !== "fill") return [];
          const [x, y] = calls
            .slice(0, i)
            .filter((call) => call.name === "moveTo")
            .at(-1)?.args as number[];
          const radius = calls[i - 2].args[4] as number;
          return `${decimals([x - radius, y])} ${String(state["fillStyle"])}`;
        });
        expect(filled).toEqual(tags);
      },
    ),
    { numRuns: 100 },
  );
});

test("lays the photo out in an area of the canvas", () => {
  const { context, calls } = recorder(1000, 1000);
  drawCanvas(context, [box(0, 0, 1, 1)], { area: { x: 100, y: 50, width: 200, height: 100 } });
  expect(calls.find(({ name }) => name === "translate")?.args).toEqual([100, 50]);
  const [x, y, width, height] = calls.find(({ name }) => name === "strokeRect")?.args as number[];
  expect([2 * x + width, 2 * y + height]).toEqual([200, 100]);
});

test("leaves the context as it was, also when a tag cannot be written", () => {
  const { context, calls } = recorder(100, 100);
  drawCanvas(context, [box(0, 0, 1, 1)]);
  expect(calls[0].name).toBe("save");
  expect(calls.at(-1)?.name).toBe("restore");
  const broken = recorder(100, 100);
  broken.context.fillText = () => {
    throw new Error("no font");
  };
  expect(() => drawCanvas(broken.context, [box(0, 0, 1, 1)])).toThrow("no font");
  expect(broken.calls.at(-1)?.name).toBe("restore");
});

test("refuses what is no context, an area without a size, and boxes in pixels", () => {
  for (const none of [null, {}, { canvas: { width: 0, height: 5 } }])
    expect(() => drawCanvas(none as CanvasContext, [])).toThrow(/expected x, y, width and height in pixels/);
  const { context } = recorder(100, 100);
  expect(() => drawCanvas(context, [box(20, 20, 90, 90)])).toThrow(DrawError);
  expect(() => drawCanvas(context, [], { area: { x: 0, y: 0, width: NaN, height: 9 } })).toThrow(DrawError);
});
