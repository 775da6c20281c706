/** Cleans up after a test file. Several files share a process, so a module that they share cannot have hooks. */
const works: (() => unknown)[] = [];

/** Registers a function that runs after the test file that is running. */
export const atFileEnd = (work: () => unknown): void => void works.push(work);

/** Runs the registered functions, the newest first. `last-words.ts` calls this after each test file. */
export async function endFile(): Promise<void> {
  for (const work of works.splice(0).reverse()) await work();
}
