/** Adds to the error of a test what its processes last said. Runs before the tests of each file. */
import { afterEach, beforeEach } from "vitest";
import { Child } from "./child.ts";

beforeEach(() => Child.forgetEnded());
// Runs before the hooks that kill the processes of the test.
afterEach(({ task }) => {
  const error = task.result?.errors?.at(-1);
  if (error) error.message += Child.lastWords();
});
