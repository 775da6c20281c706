/** The page for people who open /graphql in a browser: it says what the address is for. */
import type { Exchange } from "boxwright-service/http/exchange";
import { sendAnswer, show } from "./answer.tsx";
import { curlLine } from "./curl.ts";
import { CopyText } from "./layout.tsx";

/** True if a person opened the address in a browser: browsers ask for HTML, but programs do not. */
export function isOpened(exchange: Exchange): boolean {
  const { method } = exchange;
  return (method === "GET" || method === "HEAD") && /\btext\/html\b/i.test(exchange.header("accept") ?? "");
}

export function explainEndpoint(exchange: Exchange, baseUrl: string): void {
  const content = (
    <>
      <p>
        This address answers programs, and not browsers. A server sends it a query by POST, with the API key of its
        team.
      </p>
      <p>An administrator of the team makes the key in the team settings. Then:</p>
      <CopyText id="curl-line" label="In a shell of that server" value={curlLine(baseUrl)} />
      <p>
        The answer holds every device of the team. <a href="/">Go to the pages of the hub</a>
      </p>
    </>
  );
  sendAnswer(exchange, show({ title: "An address for programs" }, content, 405, { allow: "POST" }), baseUrl);
}
