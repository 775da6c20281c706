/** The worker that reads files, runs networks and decodes, to keep the page responsive. Answers one message per job. */
import type { JobAnswer, JobRequest } from "../thread.ts";
import { jobs } from "./jobs.ts";

const post = (answer: JobAnswer): void => (globalThis as unknown as Worker).postMessage(answer);

globalThis.addEventListener("message", async ({ data }: MessageEvent<JobRequest>) => {
  const { id, name, given } = data;
  try {
    const job = jobs[name as keyof typeof jobs] as (...given: readonly unknown[]) => unknown;
    post({ id, result: await job(...given) });
  } catch (error) {
    post({ id, error: error instanceof Error ? error.message : String(error) });
  }
});
