/** Words of the table of forms: its rows, and the parts that many of them have. */
import type { FormRow, PartRow, RowCount } from "../form.ts";

type Channels = PartRow["channels"];
type More = Partial<PartRow>;

/** Returns a row of the table. `usual`: points for how usual the form is, which only people in the field can tell. */
export const form = (
  rows: RowCount,
  families: FormRow["families"],
  parts: FormRow["parts"],
  usual: number,
  example: string,
  more: Partial<FormRow> = {},
): FormRow => ({ rows, families, parts, usual, example, ...more });

/** Returns the row of a list that the network finished. Its class ids are a column or a tensor. */
export const finished = (
  families: FormRow["families"],
  parts: FormRow["parts"],
  usual: number,
  example: string,
  more: Partial<FormRow> = {},
): FormRow => form("list", families, parts, usual, example, { classes: null, ...more });

/** Rows or planes. */
export const rows = (channels: Channels, more: More = {}): PartRow => ({ see: "rows", channels, ...more });
export const inRows = (channels: Channels, more: More = {}): PartRow =>
  rows(channels, { order: "rows", ...more });
export const inPlanes = (channels: Channels, more: More = {}): PartRow =>
  rows(channels, { order: "planes", ...more });

/** A map for each level. */
export const map = (channels: Channels, more: More = {}): PartRow => ({
  see: "map",
  channels,
  perLevel: true,
  ...more,
});

/** Rows for each level. */
export const levelRows = (channels: Channels, more: More = {}): PartRow =>
  rows(channels, { perLevel: true, ...more });

/** One value for each row. */
export const list = (name: RegExp, role?: PartRow["role"]): PartRow => ({
  see: "list",
  channels: [],
  name,
  ...(role && { role }),
});

/** One value of a picture, such as the count of its rows. */
export const value = (more: More = {}): PartRow => rows([], { apart: true, ...more });

export const PROTOTYPES = { see: "map", channels: ["M"], apart: true } as const satisfies PartRow;

/** A mask for each row. */
export const MASKS = { see: "map", channels: ["X"], apart: true, name: /mask/i } as const satisfies PartRow;

/** Class ids of mmdeploy's rows. */
export const LABELS: PartRow = list(/label|class/i);
