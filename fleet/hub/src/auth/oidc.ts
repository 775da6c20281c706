/**
 * Sign-in by a provider of OpenID Connect: the authorization code flow with PKCE, `state` and `nonce`. The PKCE
 * verifier, `state` and `nonce` are random. The browser that started the sign-in keeps all three in one cookie.
 * openid-client checks issuer, audience, signature and times of the ID token.
 */
import { parse, serialize } from "hono/utils/cookie";
import type { ClientAuth, Configuration } from "openid-client";
import { UserError } from "../core/errors.ts";
import type { Config } from "../core/config.ts";
import type { Claims } from "../nouns/identity.ts";

const COOKIE = "__Host-hub_oidc";
/** SameSite is Lax, since a page of the provider redirects back to the hub. */
const ATTRIBUTES = { httpOnly: true, secure: true, sameSite: "Lax", path: "/" } as const;
/** Seconds for a person to sign in at the provider. */
const COOKIE_SECONDS = 600;
const TIMEOUT_SECONDS = 10;
export const CALLBACK = "/sign-in/oidc/callback";

export interface Settings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Returns the settings of the provider, or undefined if none is configured. */
export function readSettings({ oidcIssuer, oidcClientId, oidcClientSecret }: Config): Settings | undefined {
  if (oidcIssuer === undefined || oidcClientId === undefined || oidcClientSecret === undefined) return undefined;
  return { issuer: oidcIssuer, clientId: oidcClientId, clientSecret: oidcClientSecret };
}

export const endedCookie: string = serialize(COOKIE, "", { ...ATTRIBUTES, maxAge: 0 });

export class OpenIdProvider {
  readonly #settings: Settings;
  readonly #baseUrl: string;
  #discovered: Promise<Configuration> | undefined;

  constructor(settings: Settings, baseUrl: string) {
    this.#settings = settings;
    this.#baseUrl = baseUrl;
  }

  /** Returns the address at the provider, and the cookie for the browser that is sent there. */
  async begin(): Promise<{ readonly location: string; readonly cookie: string }> {
    const oidc = await import("openid-client");
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    const location = oidc.buildAuthorizationUrl(await this.#discover(), {
      ...{ redirect_uri: this.#baseUrl + CALLBACK, scope: "openid email", state, nonce },
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    const value = [state, nonce, verifier].join(".");
    return { location: location.href, cookie: serialize(COOKIE, value, { ...ATTRIBUTES, maxAge: COOKIE_SECONDS }) };
  }

  /**
   * Checks the provider's answer, and returns the claims about the account. Throws a UserError if this browser did not
   * request the answer, or if a check of the ID token fails.
   * @param search query of the address at which the browser came back
   */
  async finish(search: string, cookies: string | undefined): Promise<Claims> {
    const value = cookies === undefined ? undefined : parse(cookies, COOKIE)[COOKIE];
    const [state, nonce, verifier] = value?.split(".") ?? [];
    if (state === undefined || nonce === undefined || verifier === undefined)
      throw new UserError(
        "got an answer of the provider without the cookie of its beginning",
        400,
        "This sign-in did not begin in this browser, or took longer than ten minutes. Try again.",
      );
    const oidc = await import("openid-client");
    const provider = await this.#discover();
    try {
      const tokens = await oidc.authorizationCodeGrant(provider, new URL(`${this.#baseUrl}${CALLBACK}?${search}`), {
        ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
      });
      const claims = tokens.claims()!;
      // Ask for the email separately: some providers leave the email out of the token.
      const more =
        claims["email"] === undefined ? await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub) : {};
      return readClaims({ ...more, ...claims });
    } catch (error) {
      if (error instanceof UserError) throw error;
      throw refusedAnswer(error);
    }
  }

  /** Reads the provider's configuration document once. After a failure, the next sign-in tries again. */
  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const oidc = await import("openid-client");
    // A provider that names no authentication method accepts HTTP Basic.
    const authenticate: ClientAuth = (server, ...rest) => {
      const ways = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
      const isBasic = ways.includes("client_secret_basic");
      (isBasic ? oidc.ClientSecretBasic : oidc.ClientSecretPost)(clientSecret)(server, ...rest);
    };
    // Allow http: the configuration accepts an http address for this machine alone.
    const plain = issuer.startsWith("http:") ? [oidc.allowInsecureRequests] : [];
    // Check the signature of the token although the token comes directly from the provider.
    const execute = [oidc.enableNonRepudiationChecks, ...plain];
    const url = new URL(issuer);
    this.#discovered ??= oidc.discovery(url, clientId, clientSecret, authenticate, {
      execute,
      timeout: TIMEOUT_SECONDS,
    });
    try {
      return await this.#discovered;
    } catch (error) {
      this.#discovered = undefined;
      throw new UserError(
        `got no document of the OpenID provider ${issuer}: ${error instanceof Error ? error.message : String(error)}`,
        503,
        "The provider of accounts does not answer at the moment. Try again soon.",
      );
    }
  }
}

function readClaims(claims: Readonly<Record<string, unknown>>): Claims {
  const { iss, sub, email, email_verified: isVerified } = claims;
  if (typeof iss !== "string" || typeof sub !== "string" || typeof email !== "string")
    throw new UserError(
      "got an account without an email, expected the claims iss, sub and email",
      403,
      "The provider does not tell the email of this account.",
    );
  if (isVerified !== true)
    throw new UserError(
      `got an email that the provider has not verified, expected email_verified`,
      403,
      "The provider has not verified the email of this account.",
    );
  return { issuer: iss, subject: sub, email };
}

function refusedAnswer(error: unknown): UserError {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  const why = error instanceof Error ? `${error.message}${cause}` : String(error);
  return new UserError(
    `sign-in by OpenID Connect: ${why}`,
    403,
    "The provider did not confirm this sign-in. Try again.",
  );
}
