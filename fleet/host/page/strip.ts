/** Shows the last pictures of a recorded source as a row of small ones. The card shows the chosen one large. */
import { make, makeButton } from "./parts.ts";
import { drawPicture } from "./picture.ts";
import type { Camera, Picture } from "./types.ts";
import { countOf } from "./words.ts";

export interface Strip {
  readonly element: HTMLElement;
  /** The picture that a reader chose; null: the newest one. */
  readonly chosen: Picture | null;
  update(camera: Camera): void;
}

/** @param onChoice called when the reader chooses another picture */
export function createStrip(onChoice: () => void): Strip {
  const element = make("div", { className: "strip", hidden: true });
  /** Buttons with their content, by number of the picture. */
  const buttons = new Map<number | null, { readonly button: HTMLButtonElement; shown: string }>();
  let pictures: readonly Picture[] = [];
  let choice: number | null = null;

  /** Chooses a picture by its number; null for always the newest. */
  function choose(number: number | null): void {
    choice = number;
    for (const [key, { button }] of buttons)
      button.setAttribute("aria-pressed", String(key === (choice ?? pictures[0]?.preview)));
  }

  function buttonOf(number: number | null): { readonly button: HTMLButtonElement; shown: string } {
    const button = makeButton("", () => {
      choose(number === pictures[0]?.preview ? null : number);
      onChoice();
    });
    button.append(make("canvas"));
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
        known.button.title = `${captured}, ${countOf(one.count, "box", "boxes")}`;
        known.button.setAttribute("aria-label", known.button.title);
        drawPicture(known.button.firstChild as HTMLCanvasElement, key, one, () => known.shown === wanted).catch(
          () => (known.shown = ""),
        );
      }
      const wanted = pictures.flatMap(({ preview }) => buttons.get(preview)?.button ?? []);
      // Leave an unchanged row, since a moved button loses the focus.
      if (wanted.some((button, i) => element.children[i] !== button)) element.replaceChildren(...wanted);
      // Choose the newest picture if the chosen one no longer exists.
      choose(pictures.some(({ preview }) => preview === choice) ? choice : null);
    },
  };
}
