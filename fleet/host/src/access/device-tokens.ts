/** Checks the tokens that a hub signs for its devices, with the public keys and revocations of the hub's document. */
import { type HubDocument, deviceSource } from "boxwright-service/schema/protocol";
import { type JSONWebKeySet, createLocalJWKSet, errors, jwtVerify } from "jose";
import { messageOf } from "boxwright-service/errors";

/** Seconds by which the clocks of hub and host may differ. */
const CLOCK_SLACK = 60;
/**
 * Largest number of tokens whose signatures are remembered. Every packet brings a token, and checking a signature takes
 * 0.1 ms.
 */
const MOST_KNOWN = 20_000;
const OF_ANOTHER_HUB =
  "no key of the hub signed the token of this device. The agent gets a new token if the hub's key was replaced. " +
  "Otherwise the agent has another hub, or the hub was restored or made anew: enrol the device again";

/** Result of a check. */
export type Verdict =
  | { readonly kind: "device"; readonly device: string; readonly name: string | null }
  /** The signature is wrong or missing. The host counts such a token as a guess. */
  | { readonly kind: "foreign" }
  /** The hub signed the token, but it is expired or revoked, or the hub no longer has the key that signed it. */
  | { readonly kind: "void"; readonly reason: string }
  /** The host has no document of the hub yet, so it cannot decide. */
  | { readonly kind: "unknown" };

interface Claims {
  readonly device: string;
  /** Name of the device in the hub; null: an older hub signed the token. */
  readonly name: string | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** True for text in the form of a JSON Web Token. */
export const isDeviceToken = (text: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text);

/** True if the device may send packets with this source. */
export const isSourceOf = (device: string, source: string): boolean =>
  source === deviceSource(device) || source.startsWith(`${deviceSource(device)}/`);

export class DeviceTokens {
  readonly #now: () => number;
  #issuer = "";
  #keys: ReturnType<typeof createLocalJWKSet> | null = null;
  /** By device, the time in seconds since 1970 before which all issued tokens are revoked. */
  #goodFrom: ReadonlyMap<string, number> = new Map();
  /** Claims of tokens whose signatures were right. */
  readonly #known = new Map<string, Claims>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Replaces keys and revocations by those of a hub's document. */
  use({ issuer, keys, revoked }: HubDocument): void {
    this.#issuer = issuer;
    this.#keys = createLocalJWKSet({ keys } as unknown as JSONWebKeySet);
    this.#goodFrom = new Map(revoked.map(({ device_id, before }) => [device_id, before]));
    // Forget checked signatures, since the new document may lack a key.
    this.#known.clear();
  }

  async check(token: string): Promise<Verdict> {
    if (this.#keys === null) return { kind: "unknown" };
    const claims = this.#known.get(token) ?? (await this.#read(token));
    if ("kind" in claims) return claims;
    const { device, name, issuedAt, expiresAt } = claims;
    if (this.#now() / 1000 > expiresAt + CLOCK_SLACK)
      return { kind: "void", reason: `the token of device ${device} has run out. Is its hub away?` };
    if (issuedAt < (this.#goodFrom.get(device) ?? 0))
      return { kind: "void", reason: `the hub has revoked device ${device}` };
    return { kind: "device", device, name };
  }

  /** Checks a token's signature, and remembers its claims. */
  async #read(token: string): Promise<Claims | Verdict> {
    const keys = this.#keys!;
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer: this.#issuer,
        algorithms: ["EdDSA"],
        requiredClaims: ["sub", "iat", "exp"],
        currentDate: new Date(this.#now()),
        clockTolerance: CLOCK_SLACK,
      });
      // Check again with the new keys: the hub replaced its keys during the check, possibly because an old key was
      // stolen.
      if (keys !== this.#keys) return await this.#read(token);
      const name = typeof payload["name"] === "string" ? payload["name"] : null;
      const claims = { device: payload.sub!, name, issuedAt: payload.iat!, expiresAt: payload.exp! };
      if (this.#known.size >= MOST_KNOWN) this.#known.clear();
      this.#known.set(token, claims);
      return claims;
    } catch (error) {
      // Do not count a guess, since no signature was compared. Otherwise, devices that are not enrolled again after the
      // restoration of a hub would lock out all devices behind the same address.
      if (error instanceof errors.JWKSNoMatchingKey) return { kind: "void", reason: OF_ANOTHER_HUB };
      // The library throws these errors only after the signature was found right. A token from the future means a wrong
      // clock.
      const isSigned = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
      return isSigned
        ? { kind: "void", reason: `the token of a device is not good: ${messageOf(error)}` }
        : { kind: "foreign" };
    }
  }
}
