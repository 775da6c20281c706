/** The last pictures of a recorded source, small and in a row. The one that is chosen stands in the card. */
import { drawPicture } from "./picture.ts";
import type { Camera, Picture } from "./types.ts";

export interface Strip {
  readonly element: HTMLElement;
  /** The picture that a reader chose; null: the newest one. */
  readonly chosen: Picture | null;
  update(camera: Camera): void;
}

/** @param onChoice called when another picture is chosen */
export function createStrip(onChoice: () => void): Strip {
  const element = document.createElement("div");
  element.className = "strip";
  element.hidden = true;
  /** Buttons by the number of their picture, with what they show. */
  const buttons = new Map<number | null, { readonly button: HTMLButtonElement; shown: string }>();
  let pictures: readonly Picture[] = [];
  let choice: number | null = null;

  /** Chooses a picture by its number; null: always the newest one. */
  function choose(number: number | null): void {
    choice = number;
    for (const [key, { button }] of buttons)
      button.setAttribute("aria-pressed", String(key === (choice ?? pictures[0]?.preview)));
  }

  function buttonOf(number: number | null): { readonly button: HTMLButtonElement; shown: string } {
    const button = document.createElement("button");
    button.type = "button";
    button.append(document.createElement("canvas"));
    button.addEventListener("click", () => {
      choose(number === pictures[0]?.preview ? null : number);
      onChoice();
    });
    return { button, shown: "" };
  }

  return {
    element,
    get chosen() {
      return pictures.find(({ preview }) => preview === choice) ?? null;
    },
    update({ key, picture, strip }) {
      pictures = picture === null ? [] : [picture, ...strip];
      element.hidden = strip.length === 0;
      for (const number of buttons.keys())
        if (!pictures.some(({ preview }) => preview === number)) buttons.delete(number);
      for (const one of element.hidden ? [] : pictures) {
        const known = buttons.get(one.preview) ?? buttonOf(one.preview);
        buttons.set(one.preview, known);
        const wanted = JSON.stringify(one);
        if (known.shown === wanted) continue;
        known.shown = wanted;
        const captured = new Date(one.time).toLocaleString();
        known.button.title = `${captured}, ${one.count} ${one.count === 1 ? "box" : "boxes"}`;
        known.button.setAttribute("aria-label", known.button.title);
        drawPicture(known.button.firstChild as HTMLCanvasElement, key, one, () => known.shown === wanted).catch(
          () => (known.shown = ""),
        );
      }
      const wanted = pictures.flatMap(({ preview }) => buttons.get(preview)?.button ?? []);
      // A button that is taken out loses the focus.
      if (wanted.some((button, i) => element.children[i] !== button)) element.replaceChildren(...wanted);
      // A chosen picture that has gone gives its place to the newest.
      choose(pictures.some(({ preview }) => preview === choice) ? choice : null);
    },
  };
}
