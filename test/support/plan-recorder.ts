/**
 * Records every config that a test decodes, with its plan, notes or refusal, if BOXWRIGHT_PLANS names a file to append
 * to. `BOXWRIGHT_PLANS=/tmp/a npx vitest run --isolate test/decode && sort -u /tmp/a` of two checkouts can be compared
 * by `diff`.
 */
import { appendFileSync } from "node:fs";
import { afterAll, vi } from "vitest";
import type * as Make from "../../src/plan/make.ts";

const lines = new Set<string>();

vi.mock(import("../../src/plan/make.ts"), async (original) => {
  const make: typeof Make = await original();
  const { outcomeWith, plain } = await import("./plan-record.ts");
  const { explain } = await import("../../src/plan/explain.ts");
  return {
    ...make,
    interpretConfig(...given: Parameters<typeof Make.interpretConfig>) {
      const [config, specs] = given;
      const { meaning, words } = outcomeWith(() => make.planOf(make.interpretConfig(...given), explain));
      lines.add(JSON.stringify([config, specs, meaning, words], plain));
      return make.interpretConfig(...given);
    },
  };
});

afterAll(() => {
  appendFileSync(process.env.BOXWRIGHT_PLANS as string, [...lines].map((line) => `${line}\n`).join(""));
  lines.clear();
});
