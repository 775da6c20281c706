import type { TestProjectInlineConfiguration } from "vitest/config";
import type { InlineConfig } from "vitest/node";

export const alias: { find: RegExp; replacement: string }[];
export const test: InlineConfig;
export function projects(
  resolve: TestProjectInlineConfiguration["resolve"],
  folder: string,
): TestProjectInlineConfiguration[];
