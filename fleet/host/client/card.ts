/** The card of one camera. Names that devices chose are set as text, never as HTML. */
import { drawPicture } from "./picture.ts";
import { listOf, duration } from "./words.ts";
import type { Camera } from "./types.ts";

export interface Card {
  readonly element: HTMLElement;
  show(camera: Camera): void;
}

export function createCard(): Card {
  const element = document.createElement("article");
  element.className = "camera";
  const canvas = document.createElement("canvas");
  const title = document.createElement("h2");
  const counts = document.createElement("dl");
  const note = document.createElement("p");
  element.append(canvas, title, counts, note);
  let shown = "";
  let newest = 0;

  async function draw({ key, picture }: Camera): Promise<void> {
    if (!picture) return;
    const turn = ++newest;
    // Draw beside the page, and show it only if no newer picture came meanwhile.
    const hidden = document.createElement("canvas");
    await drawPicture(hidden, key, picture);
    if (turn !== newest) return;
    canvas.width = hidden.width;
    canvas.height = hidden.height;
    canvas.getContext("2d")?.drawImage(hidden, 0, 0);
    element.dataset["frame"] = picture.id;
    element.dataset["boxes"] = picture.detections ? String(picture.detections.length) : "none";
  }

  return {
    element,
    show(camera) {
      const { key, source, subject, frames, detections, missing, latency, picture } = camera;
      element.dataset["key"] = key;
      title.textContent = subject === "" ? source : subject;
      if (subject !== "") {
        const device = document.createElement("span");
        device.textContent = ` (${source})`;
        title.append(device);
      }
      counts.replaceChildren(
        ...listOf({
          frames,
          detections,
          missing: missing ?? "unknown",
          latency: latency === null ? "unknown" : duration(latency),
        }),
      );
      note.textContent = noteOf(camera);
      const wanted = JSON.stringify(picture);
      if (wanted === shown) return;
      shown = wanted;
      draw(camera).catch(() => {
        // A newer picture took its place on the host. The next event has it.
        if (shown === wanted) shown = "";
      });
    },
  };
}

function noteOf({ picture }: Camera): string {
  if (!picture) return "no picture";
  const { detections, count, preview, time, isUnplaced } = picture;
  const boxes = detections === null ? "not decoded yet" : `${count} ${count === 1 ? "box" : "boxes"}`;
  const shown = detections && detections.length < count ? `, the best ${detections.length} shown` : "";
  const ground = preview === null ? ", without a picture" : "";
  const place = isUnplaced ? ", across the network's input" : "";
  return `${new Date(time).toLocaleString()}: ${boxes}${shown}${ground}${place}`;
}
