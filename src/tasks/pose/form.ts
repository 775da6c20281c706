/** The type `Form`: one layout of tensors that exporters of pose networks write, and the function that reads it. */
import type { PointShape } from "../../core/keypoints.ts";
import type { Interpretation, Specs } from "../../heads/head.ts";
import type { HeadQuery } from "../../heads/query.ts";
import type { PointReading } from "./plan.ts";

/** An interpretation whose heads have points as `extra`. The field `rule` says how raw values become x and y. */
export type Formed = PointReading & {
  readonly interpretation: Interpretation;
  readonly shape: PointShape;
  /** True if this network of the family outputs only boxes. */
  readonly lacksPoints?: true;
};

export interface Form {
  /** Returns every interpretation of the tensors in this form. */
  readonly read: (query: HeadQuery, specs: Specs, shape: PointShape) => readonly Formed[];
  /** Returns the shapes of the form for an error. */
  readonly expected: (query: HeadQuery, shape: PointShape) => string;
}
