import { decodeText } from "kernel-data/decode";
import { carriedBy } from "./ascii.ts";

export const decode = /* @__PURE__ */ carriedBy(decodeText);
