/** Applications and snaps in a real Chromium: checks while typing, a model file that is sent, boxes at their pixels. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { Agent } from "../support/agent.ts";
import { useChromium } from "../support/browser.ts";
import { startHub, type TestHub } from "../support/hub.ts";
import { png } from "../support/pictures.ts";
import { BOX, sendSnap } from "../support/snaps.ts";

const MODEL = fileURLToPath(new URL("../../../../test/fixtures/models/yolox_nano.onnx", import.meta.url));

describe.skipIf(inject("chromium") === undefined)("applications in Chromium", () => {
  const browsing = useChromium();
  let hub: TestHub;
  beforeAll(async () => {
    hub = await startHub();
  });
  afterAll(() => hub.stop());

  it("checks while somebody types, sends a model file, and shows the difference", async () => {
    const { page } = browsing;
    await browsing.signIn(hub);
    await page.getByRole("link", { name: "Applications" }).click();
    await page.getByLabel("Name of the new application").fill("Gate");
    await page.getByRole("button", { name: "Add application" }).click();
    await page.getByLabel("Config", { exact: true }).fill(`{"family": "yolov99"}`);
    await page.getByRole("alert").getByText("yolov99").waitFor();
    await page
      .getByLabel("Config", { exact: true })
      .fill(`{"family": "yolov8", "classes": 2, "inputSize": [320, 320]}`);
    await page.getByRole("heading", { name: "What boxwright makes of it" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.getByLabel("Config", { exact: true }).fill("");
    await page.locator("#model-file").setInputFiles(MODEL);
    await page.getByText("The file is there.").waitFor();
    await page.getByLabel("Options", { exact: true }).fill(`{"family": "yolox", "labels": "coco80"}`);
    await page.getByRole("region", { name: "What boxwright makes of it" }).getByText("yolox").first().waitFor();
    await page.getByRole("button", { name: "Save version" }).click();
    await page.getByText("Saved as version 1.").waitFor();
    await page.getByRole("link", { name: "Change it in a new version" }).click();
    await page
      .getByLabel("Options", { exact: true })
      .fill(`{"family": "yolox", "labels": "coco80", "maxDetections": 5}`);
    await page
      .getByRole("region", { name: "Difference to version 1" })
      .getByText("+ options")
      .or(page.locator("ins"))
      .first()
      .waitFor();
    const [model] = await hub.storage.db.all<{ complete_at: number }>("SELECT complete_at FROM models");
    expect(model!.complete_at).toBeGreaterThan(0);
  });

  it("sends a file on the page of model files, and the archive of a release on the form that asks for it", async () => {
    const { page } = browsing;
    const file = (name: string) => ({ name, mimeType: "application/gzip", buffer: Buffer.from(name) });
    await browsing.signIn(hub);
    await page.getByRole("link", { name: "Model files" }).click();
    await page.locator("#model-file").setInputFiles(file("sent-here.onnx"));
    await page.getByRole("list", { name: "Model files" }).getByText("sent-here.onnx").waitFor();
    await page.getByRole("link", { name: "Applications" }).click();
    await page.getByLabel("Name of the new application").fill("Agents");
    await page.getByLabel("What for").selectOption("agent");
    await page.getByRole("button", { name: "Add application" }).click();
    await page.getByLabel("Release").fill("{}");
    await page.locator("#model-file").setInputFiles(file("agent.tgz"));
    await page.getByText("The file is there.").waitFor();
    expect(await page.getByLabel("Release").inputValue()).toBe("{}");
  });

  it("draws the boxes of a snap at their pixels, and hostile labels as text", async () => {
    const { page } = browsing;
    const agent = await Agent.enrol(hub);
    const label = `<img src=x onerror="document.title='owned'">`;
    const event = {
      ...{ specversion: "1.0", id: "1", source: `device:${agent.id}`, type: "boxwright.detections" },
      data: { detections: [{ ...BOX, label }, { x_min: "evil" }, null] },
    };
    const snap = await sendSnap(agent, [png(200, 100, [0, 0, 0])], { event });
    await browsing.signIn(hub);
    await page.goto(`${hub.url}/teams/${hub.team.id}/snaps/${snap}`);
    await page.locator("canvas[data-drawn=yes]").waitFor({ state: "attached" });
    // The box is at 50..150 x 25..75 of 200 x 100 pixels: something is drawn on its lines, and nothing far from them.
    const drawn = await page.locator("canvas").evaluate((canvas) => {
      const element = canvas as HTMLCanvasElement;
      const alpha = (x: number, y: number): boolean => element.getContext("2d")!.getImageData(x, y, 1, 1).data[3]! > 0;
      return {
        size: [element.width, element.height],
        lines: [alpha(50, 60), alpha(149, 60), alpha(100, 74)],
        elsewhere: [alpha(10, 60), alpha(190, 60), alpha(100, 95), alpha(100, 55)],
      };
    });
    expect(drawn).toEqual({ size: [200, 100], lines: [true, true, true], elsewhere: [false, false, false, false] });
    expect(await page.title()).toBe("Snap person - boxwright hub");
    await page.goto(`${hub.url}/teams/${hub.team.id}/snaps`);
    await page.locator(".snap.small canvas[data-drawn=yes]").waitFor({ state: "attached" });
  });
});
