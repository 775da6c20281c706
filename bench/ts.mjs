/** `node --import ./bench/ts.mjs bench/run.ts` */
import { register } from "node:module";

register("./ts-hooks.mjs", import.meta.url);
