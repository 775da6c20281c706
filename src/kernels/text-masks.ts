import { masksText } from "kernel-data/masks";
import { carriedBy } from "./ascii.ts";

export const masks = /* @__PURE__ */ carriedBy(masksText);
