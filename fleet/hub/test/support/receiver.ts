/** Receivers of messages: a web server, and a real mail server. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { onTestFinished } from "vitest";

export interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts a web server that answers each POST with the status that `answer` gives. */
export async function webReceiver(answer: () => number = () => 204): Promise<{ url: string; got: Got[] }> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const status = answer();
      if (status < 300) got.push({ headers: request.headers, body });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=hidden`, got };
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly text: string;
}

/** Starts a mail server with one account. `refuse` says why it refuses a mail, or undefined. */
export async function mailReceiver(refuse: () => string | undefined = () => undefined) {
  const got: Mail[] = [];
  const server = new SMTPServer({
    authOptional: false,
    allowInsecureAuth: true,
    disabledCommands: ["STARTTLS"],
    onAuth: ({ username, password }, _session, callback) =>
      username === "hub" && password === "secret" ? callback(null, { user: "hub" }) : callback(new Error("wrong")),
    onData(stream, { envelope }, callback) {
      let text = "";
      stream.setEncoding("utf8").on("data", (part: string) => (text += part));
      stream.on("end", () => {
        const why = refuse();
        if (why !== undefined) return callback(Object.assign(new Error(why), { responseCode: 451 }));
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        got.push({ from, to: envelope.rcptTo.map(({ address }) => address), text });
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://hub:secret@127.0.0.1:${port}`, got };
}
