/** What a visitor does on the site. Each case has a page of its own. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { access } from "./access.mjs";
import { documentation } from "./documentation.mjs";
import { equal, isTrue, openPlayground, readText, settled, summaryOf } from "./steps.mjs";

/** What each example finds: the counts are those of the recordings of the fixtures. */
const EXAMPLES = [
  { name: "boxes", found: 2, says: "1 cup, 1 dining table", tensors: 2 },
  { name: "keypoints", found: 5, says: "5 face", tensors: 12 },
  { name: "masks", found: 7, says: "", tensors: 2 },
  { name: "oriented", found: 9, says: "", tensors: 1 },
  { name: "large", found: 34, says: "", tensors: 1 },
];

const examples = EXAMPLES.map(({ name, found, says, tensors }) => ({
  name: `example ${name}`,
  async run({ page, address }) {
    await openPlayground(page, address);
    await page.click(`[data-example=${name}]`);
    await settled(page, name);
    const summary = await summaryOf(page);
    equal(summary.count, found, "detections");
    isTrue(summary.text.includes(says), `got "${summary.text}", expected it to say ${says}`);
    equal(await page.locator("[data-tensor]").count(), tensors, "tensors");
    const description = await readText(page, "[data-description]");
    isTrue(/family:/.test(description) && !/not known yet/.test(description), "describe() tells of the plan");
    // Each picture of a tensor has more than one colour.
    const isPlain = await page.evaluate(() =>
      [...document.querySelectorAll("[data-tensor] canvas")].some((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size < 2;
      }),
    );
    isTrue(!isPlain, "a tensor has a picture of one colour");
    await page.waitForSelector("[data-times]");
    for (const engine of ["simd", "scalar", "ts"])
      isTrue(/\d/.test(await readText(page, `[data-time=${engine}]`)), `no time of ${engine}`);
  },
}));

const playground = [
  {
    name: "candidates say what suppressed them, and one is shown",
    async run({ page, address }) {
      await openPlayground(page, address);
      const text = await readText(page, "[data-candidates]");
      isTrue(/^16 candidates, 2 kept, 14 suppressed/.test(text), text);
      const rows = page.locator("tbody tr", { has: page.locator("button.small") });
      isTrue(
        /suppressed by 1, IoU 0\.\d\d/.test(await rows.nth(1).innerText()),
        "the second names its suppressor",
      );
      const before = await overlayBytes(page);
      await rows.nth(1).locator("button").click();
      await page.waitForSelector("tr.chosen");
      isTrue(before !== (await overlayBytes(page)), "the chosen candidate is drawn");
    },
  },
  {
    name: "a slider decodes again, by mouse and by keyboard, within a frame",
    async run({ page, address }) {
      await openPlayground(page, address);
      await page.click("[data-example=large]");
      await settled(page, "large");
      await page.waitForSelector("[data-times]");
      // Steps by the keyboard: the time from the key to the drawn boxes, without the wait for the screen.
      const slider = page.locator("[data-slider=confidence]");
      await slider.focus();
      const before = (await summaryOf(page)).count;
      for (let i = 0; i < 60; i++) await page.keyboard.press("ArrowRight");
      await page.waitForFunction(
        (count) => Number(document.querySelector("[data-summary]").dataset.count) < count,
        before,
      );
      const ms = await page.evaluate(async () => {
        const input = document.querySelector("[data-slider=confidence]");
        const times = [];
        for (let step = 0; step < 60; step++) {
          const start = performance.now();
          input.value = String(0.2 + step * 0.005);
          const drawn = new Promise((resolve) =>
            new MutationObserver((_, observer) => (observer.disconnect(), resolve())).observe(
              document.querySelector("[data-overlay]"),
              { attributeFilter: ["data-decodes"] },
            ),
          );
          input.dispatchEvent(new Event("input", { bubbles: true }));
          await drawn;
          times.push(performance.now() - start);
        }
        return times.sort((a, b) => a - b)[30];
      });
      console.log(`  a step of the slider at [1,84,8400]: ${ms.toFixed(1)} ms (median of 60)`);
    },
  },
  {
    name: "code and config are copied, and the config decodes as before",
    context: { permissions: ["clipboard-read", "clipboard-write"] },
    async run({ page, address }) {
      await openPlayground(page, address);
      await page.click("[data-example=keypoints]");
      await settled(page, "keypoints");
      for (const name of ["Config", "Node", "Page", "Worker", "Tensors", "Agent"]) {
        await page.click(`[data-code=${name}]`);
        equal(await page.textContent("[data-copied]"), "", "what is said before the click");
        await page.click("[data-copy]");
        await page.waitForSelector("[data-copied]:has-text('is copied')");
        const text = await page.evaluate(() => navigator.clipboard.readText());
        equal(text, await page.textContent("[data-snippet]"), name);
        isTrue(text.includes("yunet") || text.includes("config.json"), `${name}: ${text}`);
        if (name === "Config" || name === "Agent") JSON.parse(text);
      }
    },
  },
  {
    name: "a link brings the settings back",
    async run({ page, address, openPage }) {
      await openPlayground(page, address);
      await page.click("[data-example=boxes]");
      await settled(page, "boxes");
      await page.fill("[data-slider=confidence]", "0.5");
      await page.click("text=Copy link");
      await page.waitForFunction(() => location.hash.includes("confidence=0.5"));
      const other = await openPage();
      await other.goto(page.url());
      await settled(other, "boxes");
      equal((await summaryOf(other)).count, 1, "detections at 0.5");
    },
  },
  {
    name: "the last of two examples is shown, without tensors of the first",
    async run({ page, address }) {
      await openPlayground(page, address);
      await page.click("[data-example=masks]");
      await page.click("[data-example=keypoints]");
      await settled(page, "keypoints");
      equal(await page.locator("[data-tensor]").count(), 12, "tensors");
      equal((await summaryOf(page)).count, 5, "detections");
    },
  },
  {
    name: "another reading is taken by a click",
    async run({ page, address }) {
      await openPlayground(page, address);
      await page.click("[data-example=large]");
      await settled(page, "large");
      await page.locator("[data-possibility]").first().click();
      await page.waitForSelector(".badge");
      isTrue((await page.inputValue("[data-config]")).includes('"family"'), "its config is shown");
    },
  },
  {
    name: "a config that is no JSON, or nonsense, is refused in words",
    async run({ page, address }) {
      await openPlayground(page, address);
      await page.fill("[data-config]", "{ family: ");
      await page.click("form button[type=submit]");
      isTrue((await readText(page, "form [role=alert]")).includes("Config is not JSON"), "says so");
      await page.fill("[data-config]", '{ "family": "yolov88", "classes": 80 }');
      await page.click("form button[type=submit]");
      isTrue(/yolov8/.test(await readText(page, "header [role=alert]")), "proposes the family");
    },
  },
];

/** Returns a short text that differs when the drawn boxes do. */
const overlayBytes = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector("[data-overlay]");
    return canvas.toDataURL();
  });

/** Returns the bytes of a .npy file of f32. */
function npyOf(dims, fill = () => undefined) {
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${dims.join(", ")}), }`;
  const padded = header.padEnd(Math.ceil((header.length + 11) / 64) * 64 - 11) + "\n";
  const start = 10 + padded.length;
  const bytes = Buffer.alloc(start + 4 * dims.reduce((a, b) => a * b, 1));
  bytes.write("\x93NUMPY\x01\x00", "latin1");
  bytes.writeUInt16LE(padded.length, 8);
  bytes.write(padded, 10, "latin1");
  fill((i, value) => bytes.writeFloatLE(value, start + 4 * i));
  return bytes;
}

/** Writes one object into planes of [1, 84, cells]: a cup of 100 x 80 pixels around (320, 240). */
const oneCup = (cells) => (write) =>
  [320, 240, 100, 80].forEach((v, channel) => write(channel * cells + 7, v)) ??
  write((4 + 41) * cells + 7, 0.9);

const files = [
  {
    name: "tensors and a photo from disk, without a config",
    async run({ page, address, fixture, file }) {
      await openPlayground(page, address);
      await page.setInputFiles("#pg-files", [
        file("output0.npy", npyOf([1, 84, 8400], oneCup(8400))),
        fixture("photos/chelsea.png"),
      ]);
      await settled(page, "");
      const { count, text } = await summaryOf(page);
      equal(count, 1, "detections");
      isTrue(text.includes("41"), text);
      await page.fill("[data-options]", '{ "labels": "coco80" }');
      await page.click("form button[type=submit]");
      await page.waitForFunction(() => document.querySelector("[data-summary]").textContent.includes("cup"));
    },
  },
  {
    name: "a model and a photo from disk, and the copied program finds the same",
    async run({ page, address, root, fixture, file }) {
      await openPlayground(page, address);
      await page.setInputFiles("#pg-files", [
        join(root, "site/pages/public/models/FastestDet.onnx"),
        fixture("photos/coffee.jpg"),
      ]);
      // The model is decoded as it comes, with class ids. The field opens when the example's options are gone.
      await page.fill("[data-options]", '{ "family": "fastestdet", "labels": "coco80" }');
      await page.click("form button[type=submit]");
      await page.waitForFunction(() => document.querySelector("[data-summary]").textContent.includes("cup"));
      isTrue((await summaryOf(page)).count > 0, "detections");
      isTrue(/ms/.test(await readText(page, "[data-stage=run]")), "the time of the run is shown");
      await page.click("[data-code=Node]");
      const program = file("photo.mjs", await readText(page, "[data-snippet]"));
      const folder = dirname(program);
      cpSync(join(root, "site/pages/public/models/FastestDet.onnx"), join(folder, "FastestDet.onnx"));
      cpSync(fixture("photos/coffee.jpg"), join(folder, "photo.jpg"));
      mkdirSync(join(folder, "node_modules"));
      for (const name of ["boxwright", "onnxruntime-node", "jpeg-js"])
        symlinkSync(
          name === "boxwright" ? root : join(root, "node_modules", name),
          join(folder, "node_modules", name),
        );
      const printed = execFileSync(process.execPath, [program], {
        cwd: folder,
        encoding: "utf8",
        env: { ...process.env, ORT_DISABLE_TELEMETRY: "1" },
      });
      isTrue(/^cup 0\.78 /m.test(printed), `the copied program printed ${printed}`);
    },
  },
  {
    name: "a field is closed while files are read, and then keeps what is typed",
    async run({ page, address, file }) {
      await openPlayground(page, address);
      await page.evaluate(() => {
        const fields = document.querySelector(".playground fieldset");
        const note = () => fields.matches(":disabled") && (document.title = "closed");
        new MutationObserver(note).observe(fields, { attributes: true });
      });
      await page.setInputFiles("#pg-files", file("large.npy", npyOf([1, 84, 8400], oneCup(8400))));
      // A click waits until the field is open.
      const field = page.locator("[data-options]");
      await field.click();
      await page.keyboard.type('{ "labels": "coco80" }');
      await settled(page, "");
      equal(await page.title(), "closed", "the fields while files are read");
      equal(await field.inputValue(), '{ "labels": "coco80" }', "options");
      await page.click("form button[type=submit]");
      await page.waitForFunction(() => document.querySelector("[data-summary]").textContent.includes("cup"));
    },
  },
  {
    name: "an npz, a safetensors file and an archive from disk",
    async run({ page, address, fixture, root }) {
      await openPlayground(page, address);
      await page.setInputFiles("#pg-files", [fixture("files/stored.npz")]);
      await page.waitForFunction(() => document.querySelectorAll("[data-tensor]").length === 3);
      await page.click("text=Clear");
      await page.setInputFiles("#pg-files", [join(root, "site/dist/examples/boxes.safetensors")]);
      // The likeliest reading needs anchors: its config is written, and the visitor completes it.
      await page.waitForSelector("header [role=alert]:has-text('more than a family')");
      equal(await page.locator("[data-tensor]").count(), 2, "tensors");
      await page.locator("[data-possibility]").first().click();
      isTrue((await page.inputValue("[data-config]")).includes("yolov5"), "the config to complete");
      await page.click("text=Clear");
      await page.setInputFiles("#pg-files", [join(root, "site/dist/examples/keypoints.safetensors")]);
      await page.waitForSelector("text=YuNet >> .. >> .badge");
      isTrue((await page.inputValue("[data-config]")).includes("yunet"), "the config that was found");
      await page.click("text=Clear");
      await page.setInputFiles("#pg-files", [fixture("files/nnarchive.tar.gz")]);
      await page.waitForSelector("#pg-config, header [role=alert]");
    },
  },
  {
    name: "wrong files are refused, each by its name",
    async run({ page, address, file }) {
      await openPlayground(page, address);
      const wrong = [
        ["empty.npy", Buffer.alloc(0), /empty\.npy: got an empty file/],
        ["hello.onnx", Buffer.from("hello"), /hello\.onnx/],
        ["cut.npy", npyOf([1, 84, 100]).subarray(0, 400), /cut\.npy/],
        ["noise.bin", Buffer.from("this is nothing"), /noise\.bin: got a file that begins with 74 68 69 73/],
        [
          "photo.jpg",
          Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]),
          /photo\.jpg: the browser cannot decode/,
        ],
        ["config.json", Buffer.from("{ not json"), /config\.json is not JSON/],
        ["archive.tar.xz", Buffer.from("\xfd7zXZ\0....", "latin1"), /packed with xz/],
        ["checkpoint.pt", Buffer.from("PK\x03\x04aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "latin1"), /checkpoint\.pt/],
      ];
      for (const [name, bytes, expected] of wrong) {
        await page.setInputFiles("#pg-files", [file(name, bytes)]);
        await page.waitForFunction(
          (n) => document.querySelector("header [role=alert]")?.textContent.includes(n),
          name,
        );
        const text = await readText(page, "header [role=alert]");
        isTrue(expected.test(text), `${name}: ${text}`);
      }
      // The example that was there is still shown.
      await settled(page, "boxes");
      equal((await summaryOf(page)).count, 2, "detections");
    },
  },
  {
    name: "a tensor of 200 MB",
    async run({ page, address, file }) {
      // An input of 5408 x 5408 pixels has so many cells.
      const cells = 599_781;
      const path = file("large.npy", npyOf([1, 84, cells], oneCup(cells)));
      await openPlayground(page, address);
      await page.setInputFiles("#pg-files", [path]);
      await settled(page, "");
      equal((await summaryOf(page)).count, 1, "detections");
      await page.waitForFunction(() => /to 320/.test(document.querySelector("[data-tensor]").textContent));
    },
  },
];

/** Returns what the page says under the picture. */
const saysNext = (page, text) =>
  page.waitForFunction(
    (words) => document.querySelector("[data-summary]")?.textContent.includes(words),
    text,
  );

const hints = [
  {
    name: "an empty playground says what to drop, and each first file what comes next",
    async run({ page, address, root, fixture, file }) {
      await openPlayground(page, address);
      await page.click("text=Clear");
      isTrue(/model.*photo/s.test(await readText(page, "[data-empty]")), "what can be dropped");
      await page.setInputFiles("#pg-files", fixture("photos/coffee.jpg"));
      await saysNext(page, "Drop a network too");
      await page.click("text=Clear");
      await page.setInputFiles("#pg-files", join(root, "site/pages/public/models/FastestDet.onnx"));
      await saysNext(page, "Drop a photo too");
      await page.click("text=Clear");
      await page.setInputFiles("#pg-files", file("a.txt", "cat\ndog\n"));
      await page.waitForSelector("[data-told]:has-text('a.txt is taken for a list of 2 labels: cat, dog')");
      await page.setInputFiles("#pg-files", file("other.json", '{ "dependencies": {} }'));
      await page.waitForSelector("header [role=alert]:has-text('got an object with dependencies')");
      await page.setInputFiles("#pg-files", file("broken.onnx", Buffer.from([8, 8, 0x18, 5, 1, 2])));
      await page.waitForSelector("header [role=alert]:has-text('The file is damaged')");
    },
  },
  {
    name: "a button names the classes of COCO",
    async run({ page, address, file }) {
      await openPlayground(page, address);
      await page.setInputFiles("#pg-files", file("output0.npy", npyOf([1, 84, 8400], oneCup(8400))));
      await settled(page, "");
      await page.click("[data-names]");
      await saysNext(page, "1 cup");
      equal(await page.locator("[data-names]").count(), 0, "buttons once the classes have names");
    },
  },
  {
    name: "a file of tensors is dropped by the mouse",
    async run({ page, address }) {
      await openPlayground(page, address);
      const bytes = npyOf([1, 84, 8400], oneCup(8400)).toString("base64");
      const data = await page.evaluateHandle((base64) => {
        const transfer = new DataTransfer();
        const raw = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        transfer.items.add(new File([raw], "output0.npy"));
        return transfer;
      }, bytes);
      await page.dispatchEvent(".playground", "drop", { dataTransfer: data });
      await settled(page, "");
      equal((await summaryOf(page)).count, 1, "detections");
    },
  },
  {
    name: "a link holds the picture with its boxes",
    context: { permissions: ["clipboard-read", "clipboard-write"] },
    async run({ page, address, openPage }) {
      await openPlayground(page, address);
      await page.click("[data-share]");
      await page.waitForSelector("text=It holds the picture itself");
      const link = await page.evaluate(() => navigator.clipboard.readText());
      isTrue(link.length < 200_000, `an address of ${link.length} letters`);
      const other = await openPage();
      await other.goto(link);
      await other.waitForSelector("[data-shared] img");
      const size = await other.evaluate(() => {
        const { naturalWidth, naturalHeight } = document.querySelector("[data-shared] img");
        return `${naturalWidth}x${naturalHeight}`;
      });
      equal(size, "640x427", "size of the picture");
      isTrue(/2 found: 1 cup, 1 dining table/.test(await readText(other, "[data-shared]")), "what it shows");
      await other.click("text=Try it yourself");
      await settled(other, "boxes");
    },
  },
  {
    name: "the first page shows a result at once, and times it",
    async run({ page, address }) {
      await page.goto(address);
      equal(
        await page.locator(".VPHero .image-src").evaluate((image) => image.naturalWidth > 0),
        true,
        "picture",
      );
      isTrue(/\d kB/.test(await readText(page, ".first dl")), "kilobytes");
      await page.waitForFunction(() =>
        document.querySelector(".first dl").textContent.includes("in your browser just now"),
      );
    },
  },
];

const surroundings = [
  {
    name: "without WebAssembly tensors decode, and a model says why it cannot run",
    flags: ["--js-flags=--jitless"],
    async run({ page, address, root, fixture }) {
      await openPlayground(page, address);
      equal(await page.evaluate(() => typeof WebAssembly), "undefined", "WebAssembly");
      equal(await readText(page, "[data-engine]"), "ts", "engine");
      equal((await summaryOf(page)).count, 2, "detections");
      await page.waitForSelector("[data-times]");
      equal(await readText(page, "[data-time=simd]"), "does not run here", "simd");
      await page.setInputFiles("#pg-files", [
        join(root, "site/pages/public/models/FastestDet.onnx"),
        fixture("photos/coffee.jpg"),
      ]);
      await page.waitForFunction(() =>
        document.querySelector("header [role=alert]")?.textContent.includes("no WebAssembly"),
      );
    },
  },
  {
    name: "offline after the first visit",
    async run({ page, address, context }) {
      await openPlayground(page, address);
      await page.evaluate(() => navigator.serviceWorker.ready);
      await page.waitForFunction(async () =>
        (await caches.keys()).some((name) => name.startsWith("boxwright-")),
      );
      await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
      // Pages of the documentation are kept when they are visited.
      await page.goto(`${address}detect.html`);
      await openPlayground(page, address);
      await context.setOffline(true);
      await page.reload();
      await settled(page, "boxes");
      await page.click("[data-example=oriented]");
      await settled(page, "oriented");
      await page.goto(`${address}detect.html`);
      isTrue((await readText(page, "h1")).includes("From a photo"), "a page of the documentation");
    },
    allowsErrors: true,
  },
  {
    name: "the camera gives frames with boxes and ids",
    context: { permissions: ["camera"] },
    async run({ page, address }) {
      await openPlayground(page, address);
      await page.click("text=Camera or video");
      await page.click("[data-live=camera]");
      await page.waitForFunction(() => Number(document.querySelector("[data-frames]")?.textContent) >= 5);
      await page.click("[data-live=stop]");
      await page.waitForFunction(() => !document.querySelector("[data-live=camera]").disabled);
      await page.click("[data-live=camera]");
      await page.waitForFunction(() => Number(document.querySelector("[data-frames]")?.textContent) >= 2);
      // Boxes lie over what they frame on a narrow screen, too.
      await page.setViewportSize({ width: 390, height: 844 });
      const heights = await page
        .locator(".live > *")
        .evaluateAll((all) => all.map((element) => Math.round(element.getBoundingClientRect().height)));
      equal(heights[1], heights[0], "height of the boxes' canvas beside that of the video");
    },
  },
  {
    name: "a video file is followed to its end, with ids",
    async run({ page, address, fixture, file }) {
      const video = file("dogs.webm", "");
      const still = ["-loop", "1", "-t", "4", "-framerate", "10", "-i", fixture("photos/dogs.jpg")];
      const vp8 = ["-c:v", "libvpx", "-b:v", "1M", "-pix_fmt", "yuv420p"];
      execFileSync("ffmpeg", ["-y", "-loglevel", "error", ...still, ...vp8, video]);
      await openPlayground(page, address);
      await page.setInputFiles("#pg-files", video);
      await page.click("[data-live=file]");
      // A dog that is seen again has an id.
      await page.waitForFunction(() =>
        /^[1-9]\d*, [1-9]\d* with an id$/.test(document.querySelector("[data-live-count]")?.textContent),
      );
      await page.waitForSelector("text=The video has ended.");
      isTrue(Number(await readText(page, "[data-frames]")) >= 3, "less than three frames");
      equal(await page.locator("[data-live-error]").count(), 0, "errors");
    },
  },
  {
    name: "the measuring page fills its table",
    async run({ page, address }) {
      await page.goto(`${address}measure.html`);
      // An example stands there first, with its machine named.
      const example = page.locator("[data-example]");
      isTrue(/AMD|Intel|Apple|ARM/.test(await example.innerText()), "the machine of the example");
      isTrue((await page.locator("[data-row]").count()) >= 10, "rows of the example");
      await page.click("[data-measure]");
      await page.waitForFunction(() => document.querySelector("[data-example]") === null);
      await page.waitForFunction(() => document.querySelectorAll("[data-row]").length >= 3);
      const us = await page
        .locator("[data-row='v8@.25'] [data-us]")
        .evaluateAll((cells) => cells.map((c) => Number(c.dataset.us)));
      isTrue(us.length === 3 && us.every((v) => v > 0), `times of three engines: ${us}`);
      equal(await page.locator("[data-row='v8@.25'] td").first().innerText(), "34", "found");
      await page.click("text=Stop");
    },
  },
];

export const cases = [
  ...examples,
  ...playground,
  ...files,
  ...hints,
  ...surroundings,
  ...documentation,
  ...access,
];
