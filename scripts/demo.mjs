/**
 * The main job, on recorded outputs of real networks: decodes them with each engine, prints the detections and the time
 * each took, and writes the annotated photos and one page that shows them. Run by `npm run demo`, after a build.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { createDecoder, toPixels } from "../dist/index.node.mjs";
import { drawSvg, imageInfo, rasterise, readTensors } from "../dist/node.mjs";

// A reader that has seen enough (`| head`) closes the pipe: the pictures are written all the same.
process.stdout.on("error", (e) => {
  if (e.code !== "EPIPE") throw e;
});

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const fixtures = join(root, "test", "fixtures");
const out = join(root, "out", "demo");

const NETWORKS = [
  {
    name: "yolo-fastest-1.1",
    title: "Yolo-Fastest 1.1",
    what: "a YOLOv3 head: two raw maps of 255 channels, described by an nn_config file of family YOLO",
    options: { activation: "logits" },
  },
  {
    name: "mobilenet-ssd",
    title: "MobileNet-SSD",
    what: "a [1,1,100,7] detection output, described by an NN_config file of family mobilenet",
    options: {},
  },
];
const PHOTOS = ["astronaut.jpg", "chelsea.png", "coffee.jpg"];
const ENGINES = ["simd", "scalar", "ts"];
const ROUNDS = 1000;

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const time = (us) => (us < 1000 ? `${us.toFixed(1)} us` : `${(us / 1000).toFixed(2)} ms`);

/** Median over the second half of the rounds: the first half warms the engine up. */
function median(decode) {
  const times = [];
  for (let i = 0; i < ROUNDS; i++) {
    const start = performance.now();
    decode();
    times.push((performance.now() - start) * 1000);
  }
  const late = times.slice(ROUNDS / 2).sort((a, b) => a - b);
  return late[late.length >> 1];
}

async function runNetwork(network) {
  const config = await readFile(join(fixtures, network.name, "config.json"), "utf8");
  const pictures = [];
  let plan = "";
  for (const photo of PHOTOS) {
    const stem = photo.replace(/\..*$/, "");
    const folder = join(fixtures, network.name, stem);
    const outputs = await readTensors(join(folder, "meta.json"));
    const expected = JSON.parse(await readFile(join(folder, "expected.json"), "utf8")).detections;
    const bytes = await readFile(join(fixtures, "photos", photo));
    const size = imageInfo(bytes, photo);

    const runs = [];
    for (const engine of ENGINES) {
      const decoder = await createDecoder(config, { engine, ...network.options });
      const detections = decoder.decode(outputs).toArray();
      runs.push({ engine: decoder.engine, detections, us: median(() => decoder.decode(outputs)) });
      plan = String(decoder.describe().text ?? decoder.describe());
    }
    // The engines promise equal bytes, so equal numbers to the last digit.
    const same = runs.every((r) => JSON.stringify(r.detections) === JSON.stringify(runs[0].detections));
    const ids = (list) =>
      list
        .map((d) => d.class_id)
        .sort()
        .join();
    const right = ids(runs[0].detections) === ids(expected);

    const svg = drawSvg(bytes, runs[0].detections, { title: `${network.title} on ${photo}` });
    const file = `${network.name}.${stem}`;
    await writeFile(join(out, `${file}.svg`), svg);
    await writeFile(join(out, `${file}.png`), await rasterise(svg));
    pictures.push({ photo, size, runs, same, right, svg, file });
    print(network, pictures.at(-1));
  }
  return { ...network, pictures, plan };
}

function print(network, { photo, size, runs, same, right }) {
  console.log(`\n${network.title} on ${photo}`);
  const rows = [["engine", "time", "label", "confidence", "x_min", "y_min", "x_max", "y_max", "pixels"]];
  for (const { engine, us, detections } of runs) {
    detections.forEach((d, i) => {
      const p = toPixels(d, size.width, size.height);
      const corners = [p.x_min, p.y_min, p.x_max, p.y_max].map((v) => Math.round(v));
      const numbers = [d.confidence, d.x_min, d.y_min, d.x_max, d.y_max].map((v) => v.toFixed(4));
      rows.push([i === 0 ? engine : "", i === 0 ? time(us) : "", d.label, ...numbers, corners.join(" ")]);
    });
    if (detections.length === 0) rows.push([engine, time(us), "(nothing)", "", "", "", "", "", ""]);
  }
  const widths = rows[0].map((_, i) => Math.max(...rows.map((r) => r[i].length)));
  for (const row of rows)
    console.log(
      `  ${row
        .map((c, i) => c.padEnd(widths[i]))
        .join("  ")
        .trimEnd()}`,
    );
  console.log(
    `  engines ${same ? "agree to the last digit" : "DISAGREE"}; objects ${right ? "as recorded" : "OTHER than recorded"}`,
  );
}

function page(networks) {
  const card = ({ photo, runs, same, right, svg, file }) => `
      <figure>
        ${svg.replace(/ width="\d+" height="\d+" viewBox/, " viewBox")}
        <figcaption>
          <b>${escape(photo)}</b> <a href="${file}.svg">SVG</a> <a href="${file}.png">PNG</a>
          <table>
            <tr><th>object</th><th>score</th><th>x_min</th><th>y_min</th><th>x_max</th><th>y_max</th></tr>
            ${runs[0].detections
              .map(
                (d) =>
                  `<tr><td>${escape(d.label)}</td>${[d.confidence, d.x_min, d.y_min, d.x_max, d.y_max].map((v) => `<td>${v.toFixed(3).replace(/^-0\.000$/, "0.000")}</td>`).join("")}</tr>`,
              )
              .join("\n            ")}
          </table>
          <table>
            <tr><th>engine</th>${runs.map((r) => `<th>${r.engine}</th>`).join("")}</tr>
            <tr><td>time</td>${runs.map((r) => `<td>${time(r.us)}</td>`).join("")}</tr>
          </table>
          <p class="${same && right ? "good" : "bad"}">${same ? "The engines agree to the last digit" : "The engines disagree"}; ${right ? "the objects are those recorded" : "the objects are other than recorded"}.</p>
        </figcaption>
      </figure>`;
  const section = (n) => `
    <section>
      <h2>${escape(n.title)}</h2>
      <p>${escape(n.what)}.</p>
      <div class="row">${n.pictures.map(card).join("")}
      </div>
      <details><summary>What the decoder took the tensors for</summary><pre>${escape(n.plan)}</pre></details>
    </section>`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>boxwright demo</title>
    <style>
      :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
      body { font: 15px/1.5 system-ui, sans-serif; max-width: 1280px; margin: 2.5rem auto; padding: 0 1.25rem; }
      h1 { margin-bottom: 0; } h2 { margin: 2.5rem 0 0; } section > p { margin-top: 0; opacity: .75; }
      .row { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 360px), 1fr)); gap: 1.25rem; align-items: start; }
      figure { margin: 0; border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
      figure > svg { display: block; width: 100%; height: auto; }
      figcaption { padding: .75rem 1rem 1rem; } figcaption a { margin-left: .5rem; }
      table { border-collapse: collapse; width: 100%; margin-top: .6rem; font-variant-numeric: tabular-nums; font-size: 13px; }
      th, td { text-align: right; padding: .2rem .3rem; border-bottom: 1px solid var(--line); }
      th { font-weight: 500; opacity: .7; } th:first-child, td:first-child { text-align: left; }
      .good { color: #1a8f4c; margin: .6rem 0 0; } .bad { color: #d4283b; font-weight: 600; margin: .6rem 0 0; }
      details { margin-top: 1rem; } pre { overflow-x: auto; font-size: 12.5px; }
    </style>
  </head>
  <body>
    <h1>boxwright</h1>
    <p>Recorded outputs of two networks on three photos, decoded by each engine. Times are medians of one decode from the
    caller's arrays, on Node ${escape(process.version)}, ${escape(process.arch)}.</p>${networks.map(section).join("")}
  </body>
</html>
`;
}

await mkdir(out, { recursive: true });
const networks = [];
for (const network of NETWORKS) networks.push(await runNetwork(network));
await writeFile(join(out, "index.html"), page(networks));

const pictures = networks.flatMap((n) => n.pictures);
console.log(
  `\nWrote ${pictures.length * 2} pictures and the page that shows them: ${relative(process.cwd(), join(out, "index.html"))}`,
);
if (!pictures.every((p) => p.same && p.right)) process.exitCode = 1;
