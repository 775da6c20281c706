/** The thread that reads files, runs networks and decodes, so that the page stays free. Answers one message per job. */
import { jobs } from "./jobs.ts";

/** A job that the page asks for. */
export interface Asked {
  readonly id: number;
  readonly name: keyof typeof jobs;
  readonly given: readonly unknown[];
}

/** The answer to a job. */
export type Answered =
  { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: string };

const post = (answer: Answered): void => (globalThis as unknown as Worker).postMessage(answer);

globalThis.addEventListener("message", async ({ data }: MessageEvent<Asked>) => {
  const { id, name, given } = data;
  try {
    post({ id, result: await (jobs[name] as (...given: readonly unknown[]) => unknown)(...given) });
  } catch (error) {
    post({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
