/**
 * The whole way: two agents run one network on the same photos, one sends tensors and one detections; a host stores
 * both, and the page shows them. Agents and host are the built commands.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type Page, chromium } from "playwright-core";
import { chromiumFlags } from "boxwright-service/testing/chromium";
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { Broker } from "boxwright-service/testing/broker";
import { Mosquitto } from "boxwright-service/testing/mosquitto";
import { temporaryFolder } from "../support/host.ts";
import { Child } from "boxwright-service/testing/child";
import { HostProcess } from "../support/process.ts";
import { runAgent } from "./agent.ts";
import { LABELS, SIZE, configOf, onnx } from "./network.ts";
import { type Photo, writePhotos } from "./photos.ts";

const PHOTOS = 24;
const KINDS = ["raw", "detection"] as const;
const isComplete = Boolean(inject("nats") && inject("mosquitto") && inject("chromium") && inject("agent"));

interface Line {
  readonly id: string;
  readonly kind: string;
  readonly frame: { readonly width: number; readonly height: number };
  readonly detections: readonly {
    readonly label: string;
    readonly x_min: number;
    readonly y_min: number;
    readonly x_max: number;
    readonly y_max: number;
  }[];
}

/** Returns what a host has stored of a device, in the order of frames. */
async function linesOf(url: string, device: string): Promise<Line[]> {
  const text = await (await fetch(`${url}/v1/detections?source=${device}`)).text();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line & { sequence: number })
    .sort((a, b) => a.sequence - b.sequence);
}

/** Compares detections with what was drawn. A pixel of the network's input is a few pixels of a large photo. */
function expectThings({ detections, frame }: Line, { width, height, things }: Photo): void {
  expect(frame).toMatchObject({ width, height });
  expect(detections.map(({ label }) => label).sort()).toEqual(things.map(({ channel }) => LABELS[channel]).sort());
  const slack = 1.5 * Math.max(1, Math.max(width, height) / SIZE);
  for (const { channel, left, top, right, bottom } of things) {
    const found = detections.find(({ label }) => label === LABELS[channel])!;
    const edges = [found.x_min * width, found.y_min * height, found.x_max * width, found.y_max * height];
    [left, top, right, bottom].forEach((edge, i) => expect(Math.abs(edges[i]! - edge)).toBeLessThanOrEqual(slack));
  }
}

/** Finds the edges of what the page has drawn over the picture of a camera: what differs from the picture alone. */
const drawnEdges = (page: Page, title: string): Promise<Record<"left" | "top" | "right" | "bottom", number>> =>
  page.evaluate(async (wanted) => {
    const cards = [...document.querySelectorAll<HTMLElement>(".camera")];
    const card = cards.find((one) => one.querySelector("h2")!.textContent.includes(wanted))!;
    const canvas = card.querySelector("canvas")!;
    const { width, height } = canvas;
    const image = new Image();
    image.src = `/pictures/${card.dataset["key"]}`;
    await image.decode();
    const plain = new OffscreenCanvas(width, height).getContext("2d")!;
    plain.drawImage(image, 0, 0);
    const [a, b] = [canvas.getContext("2d")!, plain].map((context) => context.getImageData(0, 0, width, height).data);
    const isDrawn = (x: number, y: number): boolean => {
      const i = (y * width + x) * 4;
      return [0, 1, 2].some((channel) => Math.abs(a![i + channel]! - b![i + channel]!) > 24);
    };
    const columns = Array.from({ length: width }, (_, x) => x);
    const rows = Array.from({ length: height }, (_, y) => y);
    // The tag stands at the top left corner: look for sides below it, and for the top on the right of it.
    const xs = columns.filter((x) => rows.slice(height / 2).some((y) => isDrawn(x, y)));
    const ys = rows.filter((y) => isDrawn(xs.at(-1)! - 20, y));
    return { left: xs[0]!, top: ys[0]!, right: xs.at(-1)!, bottom: ys.at(-1)! };
  }, title);

describe.skipIf(!isComplete)("two agents, a host and its page", () => {
  const folder = temporaryFolder();
  let browser: Browser;
  let photos: Photo[];

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: inject("chromium")!,
      args: chromiumFlags,
    });
    mkdirSync(join(folder.path, "photos"));
    photos = writePhotos(join(folder.path, "photos"), PHOTOS);
    writeFileSync(join(folder.path, "network.onnx"), onnx());
    for (const kind of KINDS) writeFileSync(join(folder.path, `${kind}.json`), JSON.stringify(configOf(kind)));
  });
  afterEach(() => Child.killAll());
  afterAll(async () => {
    await browser.close();
    folder.remove();
  });

  const settingsOf = (kind: (typeof KINDS)[number], sink: object): object => ({
    device: `/devices/${kind}`,
    network: { model: join(folder.path, "network.onnx"), config: join(folder.path, `${kind}.json`), threads: 1 },
    sources: [{ kind: "folder", camera: "Tür 1", path: join(folder.path, "photos") }],
    sinks: [sink],
    preview: {},
  });

  test.each(["http", "nats", "mqtt"] as const)(
    "over %s both ways store the same, and the page shows it",
    async (way) => {
      const brokers = { http: null, nats: Broker, mqtt: Mosquitto };
      const broker = (await brokers[way]?.start()) ?? null;
      const database = join(folder.path, `${way}.db`);
      const host = await HostProcess.start({ database, partitions: 2, ...(broker && { [way]: broker.url }) });
      const places = {
        http: { url: host.url },
        nats: { servers: [broker?.url], partitions: 2 },
        mqtt: { url: broker?.url },
      };
      const sink = { kind: way, ...places[way] };
      await Promise.all(KINDS.map((kind) => runAgent(join(folder.path, way, kind), settingsOf(kind, sink))));

      const page = await browser.newPage();
      await page.goto(host.url);
      await page.waitForFunction((count) => {
        const frames = [...document.querySelectorAll(".camera dl div:first-child dd")].map((dd) => dd.textContent);
        return frames.length === 2 && frames.every((text) => text === String(count));
      }, PHOTOS);
      expect(await page.textContent("#totals")).toContain("refused0");
      const [raw, decoded] = await Promise.all(KINDS.map((kind) => linesOf(host.url, `/devices/${kind}`)));
      expect(new Set(raw!.map(({ kind }) => kind))).toEqual(new Set(["raw"]));
      expect(new Set(decoded!.map(({ kind }) => kind))).toEqual(new Set(["detection"]));
      expect(raw!.map(({ id }) => id)).toEqual(decoded!.map(({ id }) => id));
      // JSON has the shortest digits that give the same number: equal texts are equal numbers.
      const digits = (lines: readonly Line[]): string[] => lines.map(({ detections }) => JSON.stringify(detections));
      expect(digits(raw!)).toEqual(digits(decoded!));
      photos.forEach((photo, n) => expectThings(raw![n]!, photo));

      const last = raw!.at(-1)!.id;
      const { things } = photos.at(-1)!;
      for (const kind of KINDS) {
        await page.waitForFunction(
          ([title, frame]) =>
            [...document.querySelectorAll<HTMLElement>(".camera")].some(
              (card) =>
                card.querySelector("h2")!.textContent === title &&
                card.dataset["frame"] === frame &&
                card.dataset["boxes"] === "1",
            ),
          [`Tür 1 (/devices/${kind})`, last] as const,
        );
        const edges = await drawnEdges(page, `/devices/${kind}`);
        for (const side of ["left", "top", "right", "bottom"] as const)
          expect(
            Math.abs(edges[side] - things[0]![side]),
            `${kind} ${side} ${JSON.stringify(edges)}`,
          ).toBeLessThanOrEqual(5);
      }
      await page.close();
      await host.end("SIGTERM");
      await broker?.remove();
    },
  );
});
