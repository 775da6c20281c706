/** Reads /healthz and /metrics of an agent process that logs at "info". */
import type { Child } from "boxwright-service/testing/child";

export interface Reader {
  /** Returns the answer of /healthz, with its status as `code`. */
  readonly health: () => Promise<any>;
  /** Returns the value of a metric, named with its labels; NaN if there is none. */
  readonly metric: (name: string) => Promise<number>;
  /** Returns the log so far. */
  readonly log: () => Record<string, any>[];
}

export async function readerOf(agent: Child): Promise<Reader> {
  const port = Number((await agent.says(/"port":(\d+)/))[1]);
  const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
  return {
    health: async () => {
      const response = await get("/healthz");
      return { code: response.status, ...((await response.json()) as object) };
    },
    metric: async (name) => {
      const lines = (await (await get("/metrics")).text()).split("\n");
      return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? NaN);
    },
    log: () =>
      agent.output
        .split("\n")
        .filter((line) => line.startsWith("{") && line.endsWith("}"))
        .map((line) => JSON.parse(line) as Record<string, any>),
  };
}
