import { prepareText } from "kernel-data/prepare";
import { carriedBy } from "./ascii.ts";

export const prepare = /* @__PURE__ */ carriedBy(prepareText);
