import { request as rawRequest } from "node:http";
import { LIST, type TestHub } from "./hub.ts";

/** Sends a request with headers as they are. Fetch refuses the same header twice. */
export function raw(
  hub: TestHub,
  options: { method?: string; path?: string; headers: string[]; body?: string },
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const request = rawRequest(
      `${hub.url}${options.path ?? "/graphql"}`,
      { method: options.method ?? "POST", headers: ["Host", new URL(hub.url).host, ...options.headers] as never },
      (response) => {
        let text = "";
        response
          .setEncoding("utf8")
          .on("data", (chunk: string) => (text += chunk))
          .on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      },
    );
    request.on("error", reject);
    request.end(options.body);
  });
}

export const JSON_TYPE = ["Content-Type", "application/json"];
export const BODY = JSON.stringify({ query: LIST });
