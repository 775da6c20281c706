/** /graphql opened from the address bar: a page that says what the address is for. */
import type { Exchange } from "../http/exchange.ts";
import { sendAnswer, show } from "./answer.tsx";
import { CURL_QUERY, curlLine } from "./curl.ts";

/** True if somebody opened the address: browsers ask for HTML then, programs do not. */
export function isOpened(exchange: Exchange): boolean {
  const { method } = exchange;
  return (method === "GET" || method === "HEAD") && /\btext\/html\b/i.test(exchange.header("accept") ?? "");
}

export function explainEndpoint(exchange: Exchange, baseUrl: string): void {
  const content = (
    <>
      <p>
        This address answers programs, and not browsers: a server sends it a query with its team's API key, by POST.
      </p>
      <p>An administrator of your team makes the key on the page "API keys". Then, in a shell of that server:</p>
      <pre tabindex={0}>
        <code>{curlLine(baseUrl)}</code>
      </pre>
      <p>
        The query <code>{CURL_QUERY}</code> gives all devices of the team. <a href="/">Open the hub's pages</a>
      </p>
    </>
  );
  sendAnswer(exchange, show({ title: "An address for programs" }, content, 405, { allow: "POST" }), baseUrl);
}
