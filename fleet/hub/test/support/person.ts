/** Fills in the hub's forms from outside. This file imports nothing of the hub. */

/** Password of everyone in the tests. */
export const password = "correct horse battery";

/** Someone with a browser that keeps the cookies of the hub and sends forms as browsers do. */
export class Person {
  readonly #url: string;
  /** Cookie of the session. */
  cookie: string | undefined;
  /** Cookie by which the hub knows the browser. */
  browser: string | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async get(path: string): Promise<{ status: number; html: string; headers: Headers }> {
    return this.#send(path, { headers: this.#headers() });
  }

  async post(
    path: string,
    form: Record<string, string>,
    headers: Record<string, string | undefined> = {},
  ): Promise<{ status: number; html: string; headers: Headers }> {
    const all: Record<string, string | undefined> = {
      ...this.#headers(),
      origin: this.#url,
      "sec-fetch-site": "same-origin",
      ...headers,
    };
    const sent = Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    return this.#send(path, { method: "POST", body: new URLSearchParams(form), headers: sent });
  }

  async signIn(email: string, secret = password): Promise<number> {
    return (await this.post("/sign-in", { email, password: secret })).status;
  }

  /** Returns the hidden fields of the first form on the page that is posted to `action`. */
  async formOf(path: string, action: string): Promise<Record<string, string>> {
    const { html } = await this.get(path);
    const form = new RegExp(`<form[^>]*method="post" action="${action}"[^>]*>(.*?)</form>`, "s").exec(html)?.[1];
    if (form === undefined) throw new Error(`got no form for ${action} on ${path}, expected one`);
    return Object.fromEntries(
      [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map((match) => [match[1]!, match[2]!]),
    );
  }

  #headers(): Record<string, string> {
    const cookies = [this.cookie, this.browser].filter((cookie) => cookie !== undefined);
    return cookies.length === 0 ? {} : { cookie: cookies.join("; ") };
  }

  async #send(path: string, init: RequestInit): Promise<{ status: number; html: string; headers: Headers }> {
    const response = await fetch(this.#url + path, { redirect: "manual", ...init });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      if (pair.startsWith("__Host-hub_browser=")) this.browser = pair;
      else this.cookie = /Max-Age=0(;|$)/i.test(set) ? undefined : pair;
    }
    return { status: response.status, html: await response.text(), headers: response.headers };
  }
}

/** Returns the path and the query that a redirect leads to, without the message of what happened. */
export function placeOf({ headers }: { headers: Headers }): string {
  const url = new URL(headers.get("location") ?? "", "http://hub");
  url.searchParams.delete("said");
  return `${url.pathname}${url.search}`;
}

/** Returns the key that a page shows, or undefined. */
export function keyOn(html: string): string | undefined {
  return /hub_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}/.exec(html)?.[0];
}
