import type { SetDecoder } from "../run.mjs";

export function open(): Promise<SetDecoder>;
