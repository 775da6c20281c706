/** The page of `boxwright inspect MODEL --try PHOTO`: the results of all readings and preparations, side by side. */
import type { Drawn } from "../picture/drawn.ts";
import { drawSvg } from "../picture/svg.ts";

/** The result of one reading with one preparation. */
export interface Trial {
  /** Texts for people: the contents of the tensors (`reading`), and the preparation of the photo. */
  readonly reading: string;
  readonly preparation: string;
  /** True if the photo was prepared in the way that the network's file and family state. */
  readonly isStated: boolean;
  /** Lines to copy that repeat this trial: the command, if it has all options, and the call of `createDetector`. */
  readonly lines: readonly string[];
  /** The detections; `null` if the tensors were refused. */
  readonly found: readonly Drawn[] | null;
  /** Notes of the decoder, or the message of its error. */
  readonly notes: readonly string[];
}

/** Count of the best confidences whose sum ranks a trial. */
const LEADING = 3;

/** Returns the trials, the likeliest first: by fewest notes, then the stated preparation, then high confidences. */
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

/** Describes the detections of a trial. */
export function foundText({ found }: Trial): string {
  if (found === null) return "refused";
  if (found.length === 0) return "nothing found";
  const [{ confidence, label: stated }] = found;
  const label = stated ?? undefined;
  // A class without a name has its id as label.
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

/** Returns the page as HTML without links to other files. The page contains the photo once. */
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
