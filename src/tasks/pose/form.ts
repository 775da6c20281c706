/** How the tensors of a network with points are read: one `Form` for each form of tensors that exporters write. */
import type { PointShape } from "../../core/keypoints.ts";
import type { Interpretation, Specs } from "../../heads/head.ts";
import type { HeadQuery } from "../../heads/query.ts";
import type { PointReading } from "./plan.ts";

/** An interpretation whose heads have their points as `extra`, and the rule that turns raw values into x and y. */
export type Formed = PointReading & {
  readonly interpretation: Interpretation;
  readonly shape: PointShape;
  /** True if the network has boxes alone: some networks of the family have no points. */
  readonly lacksPoints?: true;
};

export interface Form {
  /** Returns every reading of the tensors in this form. */
  readonly read: (query: HeadQuery, specs: Specs, shape: PointShape) => readonly Formed[];
  /** Returns the shapes of the form, for an error. */
  readonly expected: (query: HeadQuery, shape: PointShape) => string;
}
