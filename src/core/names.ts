/** Suggests a known name for a misspelt one, or for the name that another project gives to an option. */

/** Returns a name in lower case, without hyphens, underscores and blanks. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[-_ ]/g, "");

/** True if two plain names are equal, or differ by one letter or by two exchanged neighbours. */
function isNearly(a: string, b: string): boolean {
  let i = 0;
  while (i < a.length && a[i] === b[i]) i++;
  const [x, y] = [a.slice(i), b.slice(i)];
  const [restOfX, restOfY] = [x.slice(1), y.slice(1)];
  const isSwapped = x.length > 1 && x[0] === y[1] && x[1] === y[0] && x.slice(2) === y.slice(2);
  return restOfX === y || x === restOfY || restOfX === restOfY || isSwapped;
}

const CONFIDENCE = "conf confidence confthres confthresh confthreshold minconfidence minscore scorethresh ";
const IOU = "iou iouthres iouthresh nmsthresh nmsthreshold nmsiou ";
const AGNOSTIC = "agnostic agnosticnms classagnostic";

/**
 * Options, each with the names that other projects give to it, as `plainName` writes them. ":value" after an option is
 * the value to set. The first known option wins.
 */
const ELSEWHERE: readonly (readonly [meant: string, names: string])[] = [
  ["confidenceThreshold", `${CONFIDENCE}threshold score scorethreshold`],
  ["scoreThreshold", `${CONFIDENCE}confidencethreshold`],
  ["iouThreshold", `${IOU}threshold`],
  ["threshold", `${IOU}iouthreshold`],
  ["maxDetections", "maxdet topk maxboxes maxresults"],
  ["inputSize", "imgsz imagesize imgsize inputshape"],
  ["scores", "sigmoid"],
  ["anchors", "anchorboxes"],
  ["coordinates", "normalised normalized"],
  ['suppress: "all"', AGNOSTIC],
  ["perClass: false", AGNOSTIC],
  ['rules: { suppress: "all" }', AGNOSTIC],
  ["rules", "nms"],
  ["maxLost", "maxage trackbuffer lostbuffer"],
  ["highThreshold", "trackthresh trackthreshold trackhighthresh"],
  ["lowThreshold", "tracklowthresh"],
  ["newThreshold", "newtrackthresh"],
  ["directionFrames", "deltat"],
  ["frameRate", "fps"],
  ["classIds", "classes idxs categoryids"],
  ["classes", "nc numclasses"],
  ["labels", "names classnames"],
  ["tile", "tilesize slice slicesize"],
  ["imageId", "id"],
  ["rotation", "orientation"],
];

/** Returns the known name, perhaps followed by ":value", of the option that other projects call `plain`. */
export function namedElsewhere(plain: string, names: readonly string[]): string | undefined {
  for (const [meant, others] of ELSEWHERE) {
    const [option] = meant.split(":");
    // Compare plain names: files write confidence_threshold.
    const known = names.find((candidate) => plainName(candidate) === plainName(option));
    if (known && others.split(" ").includes(plain)) return known + meant.slice(option.length);
  }
  return undefined;
}

/** Returns the known name that a misspelt name or another project's name means, undefined if there is none. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const plain = plainName(name);
  return names.find((known) => isNearly(plain, plainName(known))) ?? namedElsewhere(plain, names);
}

/** From this many known names on, an error that has a suggestion does not list the names. */
const MANY = 12;

/** Returns what an error about an unknown name expects: `one of a, b, c`, then `more`, then `; did you mean b?`. */
export function namesFor(unknown: string, names: readonly string[], more = ""): string {
  const meant = nearestName(unknown, names);
  const all = meant !== undefined && names.length >= MANY ? "a known one" : `one of ${names.join(", ")}`;
  return `${all}${more}${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}
