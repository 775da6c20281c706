/** A real OpenID provider in this process, and a browser that goes through its sign-in. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

export const CLIENT = { client_id: "the-hub", client_secret: "a-secret-of-the-hub-at-the-provider" };

interface Account {
  readonly email?: string;
  readonly email_verified?: boolean;
}

interface Grant {
  addOIDCScope(scope: string): void;
  save(): Promise<void>;
}
interface GrantContext {
  readonly oidc: {
    readonly provider: { readonly Grant: new (of: object) => Grant };
    readonly session: { readonly accountId: string };
  };
}

export interface TestProvider {
  readonly issuer: string;
  /** Claims of accounts, by subject. */
  readonly accounts: Map<string, Account>;
  /** Subject of whoever signs in next. */
  current: string;
  /** Answers with these public keys in place of its own. */
  keys: object | undefined;
  /** Begins to serve. `hubUrl` is where it may lead back. */
  serve(hubUrl: string): void;
  stop(): void;
}

export async function listenLocal(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function openProvider(): Promise<TestProvider> {
  let handle: ReturnType<Provider["callback"]> = (_request, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => handle(request, response));
  const issuer = await listenLocal(server);
  const opened: TestProvider = {
    issuer,
    accounts: new Map(),
    current: "",
    keys: undefined,
    serve(hubUrl) {
      const provider = new Provider(issuer, optionsOf(hubUrl, opened.accounts));
      const inner = provider.callback();
      handle = (request, response) => {
        if (request.url === "/jwks" && opened.keys !== undefined) {
          response.setHeader("content-type", "application/json");
          return response.end(JSON.stringify(opened.keys));
        }
        // Whoever comes is signed in as the current account, without a form.
        if (request.url?.startsWith("/interaction/") !== true) return inner(request, response);
        return void provider.interactionFinished(request, response, { login: { accountId: opened.current } });
      };
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return opened;
}

const optionsOf = (hubUrl: string, accounts: ReadonlyMap<string, Account>): object => ({
  clients: [{ ...CLIENT, redirect_uris: [`${hubUrl}/sign-in/oidc/callback`] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"] },
  cookies: { keys: ["some key of the test"] },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
  findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) }),
  loadExistingGrant: async ({ oidc }: GrantContext) => {
    const grant = new oidc.provider.Grant({ clientId: CLIENT.client_id, accountId: oidc.session.accountId });
    grant.addOIDCScope("openid email");
    await grant.save();
    return grant;
  },
});

/** A browser: it keeps the cookies of each address, and follows redirects one at a time. */
export class Browser {
  readonly #jars = new Map<string, Map<string, string>>();

  cookiesOf(url: string): Map<string, string> {
    const { host } = new URL(url);
    if (!this.#jars.has(host)) this.#jars.set(host, new Map());
    return this.#jars.get(host)!;
  }

  async get(url: string): Promise<Response> {
    const jar = this.cookiesOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: cookie === "" ? {} : { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/max-age=0/i.test(set) || value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects until one leads to an address that begins with `end`. Returns that address. */
  async followTo(url: string, end: string): Promise<string> {
    for (let at = url, steps = 0; steps < 10; steps++) {
      const response = await this.get(at);
      const next = new URL(response.headers.get("location") ?? "", at).href;
      if (!response.headers.has("location"))
        throw new Error(`got ${response.status} at ${at}: ${await response.text()}`);
      if (next.startsWith(end)) return next;
      at = next;
    }
    throw new Error("got more than ten redirects, expected the way back");
  }
}
