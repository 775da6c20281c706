/** Functions that build rows of the table of forms, and parts that many forms share. */
import type { FormRow, PartRow, RowCount } from "../form.ts";
import { type TensorParts, termsOf } from "../ways.ts";

/** Terms of a channel count: numbers, unknowns, or the parts of a whole tensor from shapes/ways.ts. */
type Channels = readonly (PartRow["channels"][number] | TensorParts)[];
type More = Partial<PartRow>;

/** Returns a row of the table. `usual` estimates how common the form is (see `FormRow`). */
export const form = (
  rows: RowCount,
  families: FormRow["families"],
  parts: FormRow["parts"],
  usual: number,
  example: string,
  more: Partial<FormRow> = {},
): FormRow => ({ rows, families, parts, usual, example, ...more });

/** Returns the form of a finished list. Class ids are values of a column or tensor, so the class count is unknown. */
export const finished = (
  families: FormRow["families"],
  parts: FormRow["parts"],
  usual: number,
  example: string,
  more: Partial<FormRow> = {},
): FormRow => form("list", families, parts, usual, example, { classes: null, ...more });

const channelsOf = (terms: Channels): PartRow["channels"] =>
  terms.flatMap((term) => (typeof term === "object" ? termsOf(term) : [term]));

/** Returns a part of rows in either storage order: the channels of a row adjacent, or one plane per channel. */
export const rows = (channels: Channels, more: More = {}): PartRow => ({
  see: "rows",
  channels: channelsOf(channels),
  ...more,
});
export const inRows = (channels: Channels, more: More = {}): PartRow =>
  rows(channels, { order: "rows", ...more });
export const inPlanes = (channels: Channels, more: More = {}): PartRow =>
  rows(channels, { order: "planes", ...more });

/** Returns a part with one feature map for each level. */
export const map = (channels: Channels, more: More = {}): PartRow => ({
  see: "map",
  channels: channelsOf(channels),
  perLevel: true,
  ...more,
});

/** Returns a part with one tensor of rows for each level. */
export const levelRows = (channels: Channels, more: More = {}): PartRow =>
  rows(channels, { perLevel: true, ...more });

/** Returns a part with one value for each row. */
export const list = (name: RegExp, role?: PartRow["role"]): PartRow => ({
  see: "list",
  channels: [],
  name,
  ...(role && { role }),
});

/** Returns a part with one value for each image, such as the count of its rows. */
export const value = (more: More = {}): PartRow => rows([], { apart: true, ...more });

export const PROTOTYPES = { see: "map", channels: ["M"], apart: true } as const satisfies PartRow;

/** Part with a mask for each row. */
export const MASKS = { see: "map", channels: ["X"], apart: true, name: /mask/i } as const satisfies PartRow;

/** Part with the class ids of mmdeploy's rows. */
export const LABELS: PartRow = list(/label|class/i, "classIds");

/** Matches the names of segmentation maps of the road, which YOLOP and its variants also output. */
export const ROAD = /(^|_)seg$|lane_line|driv(e|able)_area|^ll$/i;
