import type { TaskPlan } from "../../heads/head.ts";
import type { TextSettings } from "./boxes.ts";

export interface TextPlan extends TaskPlan {
  readonly settings: TextSettings;
  /** Size of the map in pixels. */
  readonly width: number;
  readonly height: number;
}
