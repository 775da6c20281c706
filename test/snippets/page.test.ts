/** The blocks for pages, as they stand, in one page of Chromium: with the package as built and onnxruntime-web. */
import { readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { openPage } from "../runtimes/browser.mjs";
import { obtain } from "../runtimes/install.mjs";
import { describePages } from "../support/browser.ts";
import { tempFolder } from "../support/files.ts";
import { allSnippets, functionOf } from "./blocks.ts";
import { dogs, echo } from "./given.ts";
import { PAGE_ROWS } from "./rows-page.ts";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
const require = createRequire(import.meta.url);
const runtime = dirname(require.resolve("onnxruntime-web"));
const folder = tempFolder();

/** The page's own program: runs every block and leaves the answers behind. */
const PROGRAM = `
import * as boxwright from "boxwright";
import * as bare from "boxwright/wasm";
import * as ort from "onnxruntime-web/wasm";

ort.env.wasm.wasmPaths = "/ort/";
ort.env.wasm.numThreads = 1;
const modules = { boxwright, "boxwright/wasm": bare, "onnxruntime-web/wasm": ort };

async function addPhoto(src) {
  const photo = Object.assign(new Image(), { src });
  await photo.decode();
  document.body.append(photo, document.createElement("canvas"));
  return {};
}

async function redVideo() {
  const [red, canvas] = [0, 1].map(() => Object.assign(document.createElement("canvas"), { width: 64, height: 64 }));
  const context = red.getContext("2d");
  context.fillStyle = "#f00";
  const painting = setInterval(() => context.fillRect(0, 0, 64, 64), 20);
  const video = document.createElement("video");
  video.muted = true;
  video.srcObject = red.captureStream();
  await video.play();
  await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
  clearInterval(painting);
  const detections = [{ class_id: 0, label: "a", confidence: 1, x_min: 0.25, y_min: 0.25, x_max: 0.75, y_max: 0.75 }];
  return { video, canvas, detections };
}

const answers = {};
for (const { name, run, given, answer } of ROWS) {
  try {
    const variables = await given();
    answers[name] = await answer(await run(variables, (module) => modules[module]), variables);
  } catch (error) {
    answers[name] = String(error.stack);
  }
}
globalThis.boxwrightResult = { answers };
`;

const nameOf = ({ page, has }: { readonly page: string; readonly has: string }): string => `${page}: ${has}`;

/** Returns the rows as the source of an array. */
function rowsAsCode(): string {
  const snippets = allSnippets();
  const rows = PAGE_ROWS.map((row) => {
    const block = snippets.find(({ page, code }) => page === row.page && code.includes(row.has));
    const fields = {
      name: JSON.stringify(nameOf(row)),
      run: functionOf(block?.code ?? "", row.names ?? []),
      given: `async () => ${row.given ?? "({})"}`,
      answer: `async (made, given) => ${row.answer}`,
    };
    return `{ ${Object.entries(fields)
      .map(([key, code]) => `${key}: ${code}`)
      .join(", ")} }`;
  });
  return `const ROWS = [${rows.join(", ")}];\n`;
}

describePages("blocks for pages", () => {
  test("run in Chromium", async () => {
    writeFileSync(folder.path("program.mjs"), rowsAsCode() + PROGRAM);
    await build({
      entryPoints: [folder.path("program.mjs")],
      outfile: folder.path("main.mjs"),
      bundle: true,
      format: "esm",
      platform: "browser",
      alias: { boxwright: `${dist}index.mjs`, "boxwright/wasm": `${dist}bare.mjs` },
      nodePaths: [fileURLToPath(new URL("../../node_modules", import.meta.url))],
      logLevel: "error",
    });
    await folder.put("yolo11n.onnx", echo());
    await folder.put("street.png", dogs());
    const served = readdirSync(runtime).filter((name) => /\.(wasm|mjs)$/.test(name));
    const { answers } = await openPage<{ answers: Record<string, unknown> }>({
      playwright: require(await obtain("playwright")) as unknown,
      folder: folder.path(""),
      app: folder.path(""),
      extra: {
        "/simd.wasm": `${dist}simd.wasm`,
        ...Object.fromEntries(served.map((name) => [`/ort/${name}`, join(runtime, name)])),
      },
    });
    expect(answers).toEqual(Object.fromEntries(PAGE_ROWS.map((row) => [nameOf(row), row.expected])));
  });
});
