/** Adds the last output of a test's processes to the test's error. vitest loads this file before each test file. */
import { afterEach, beforeEach } from "vitest";
import { Child } from "./child.ts";

beforeEach(() => Child.forgetEnded());
// This hook runs before the hooks that kill the processes of the test.
afterEach(({ task }) => {
  const error = task.result?.errors?.at(-1);
  if (error) error.message += Child.lastWords();
});
