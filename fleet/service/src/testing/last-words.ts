/**
 * Adds the last output of a test's processes to the test's error, and cleans up after each file. vitest loads this file
 * before each test file.
 */
import { afterAll, afterEach, beforeEach } from "vitest";
import { Child } from "./child.ts";
import { endFile } from "./file-end.ts";

afterAll(endFile);

beforeEach(() => Child.forgetEnded());
// This hook runs before the hooks that kill the processes of the test.
afterEach(({ task }) => {
  const error = task.result?.errors?.at(-1);
  if (error) error.message += Child.lastWords();
});
