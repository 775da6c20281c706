import type { InlineConfig } from "vitest/node";

export const alias: { find: RegExp; replacement: string }[];
export const test: InlineConfig;
