/** The page of `boxwright inspect MODEL --try PHOTO`: what each reading and preparation finds, side by side. */
import type { Drawn } from "../picture/drawn.ts";
import { drawSvg } from "../picture/svg.ts";

/** One reading with one preparation, and what it found. */
export interface Trial {
  /** For people: what the tensors are taken for, and how the photo was prepared. */
  readonly reading: string;
  readonly preparation: string;
  /** The photo was prepared as the network's file and family say. */
  readonly isStated: boolean;
  /** Lines that run the network so: the command, if it has an option for everything, and the call. */
  readonly lines: readonly string[];
  /** `null` if the tensors were refused. */
  readonly found: readonly Drawn[] | null;
  /** The notes of the decoder, or the message of its refusal. */
  readonly notes: readonly string[];
}

/** Confidences that count for the order of the page. */
const LEADING = 3;

/**
 * Returns the trials, the likeliest first: those with the fewest notes, of these the stated preparation if it found
 * something, and then the ones that are surest.
 */
export function ranked(trials: readonly Trial[]): Trial[] {
  const sureness = ({ found }: Trial): number =>
    (found ?? []).slice(0, LEADING).reduce((sum, { confidence }) => sum + (confidence ?? 0), 0);
  const doubts = ({ found, notes }: Trial): number => (found === null ? Infinity : notes.length);
  return [...trials].sort((a, b) => {
    const [x, y] = [doubts(a), doubts(b)];
    if (x !== y) return x - y;
    const isExpected = ({ isStated, found }: Trial): number => Number(isStated && (found?.length ?? 0) > 0);
    return isExpected(b) - isExpected(a) || sureness(b) - sureness(a);
  });
}

/** Returns in words what a trial found. */
export function foundText({ found }: Trial): string {
  if (found === null) return "refused";
  if (found.length === 0) return "nothing found";
  const [{ confidence, label: stated }] = found;
  const label = stated ?? undefined;
  // A class without a name has its id for a label.
  const name = label === undefined || /^\d+$/.test(label) ? `class ${label ?? "?"}` : label;
  const best = confidence === undefined ? "" : `, best ${name} ${Math.round(confidence * 100)} %`;
  return `${found.length} found${best}`;
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const STYLE = `
body { font: 15px/1.4 system-ui, sans-serif; margin: 1rem; background: Canvas; color: CanvasText; color-scheme: light dark }
main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr)) }
figure { margin: 0; padding: .75rem; border: 1px solid color-mix(in srgb, CanvasText 25%, Canvas); border-radius: .5rem }
svg { width: 100%; height: auto }
pre { white-space: pre-wrap; overflow-wrap: anywhere; user-select: all; background: color-mix(in srgb, CanvasText 8%, Canvas); padding: .5rem }
`;

/** Returns the page. It links to no other file, and holds the photo once. */
export function tryPage(name: string, photo: Uint8Array, trials: readonly Trial[]): string {
  const image = /<image [^>]*\/>/;
  const [embedded] = image.exec(drawSvg(photo, [])) as RegExpExecArray;
  const figures = ranked(trials).map((trial) => {
    const picture = trial.found && drawSvg(photo, trial.found).replace(image, '<use href="#photo"/>');
    return [
      "<figure>",
      picture ?? "",
      `<figcaption><b>${escape(foundText(trial))}</b>`,
      `<p>${escape(trial.reading)}<br>${escape(trial.preparation)}</p>`,
      ...trial.notes.map((note) => `<p>note: ${escape(note)}</p>`),
      ...trial.lines.map((line) => `<pre>${escape(line)}</pre>`),
      "</figcaption></figure>",
    ].join("\n");
  });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(name)}: readings and preparations</title><style>${STYLE}</style></head><body>
<h1>${escape(name)}</h1>
<p>Each picture is one way to prepare the photo and to read the network's outputs, the likeliest first. Copy a line of
the one that is right.</p>
<svg style="position:absolute;width:0;height:0" aria-hidden="true"><defs>${embedded.replace("<image ", '<image id="photo" ')}</defs></svg>
<main>
${figures.join("\n")}
</main></body></html>
`;
}
