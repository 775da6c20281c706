/**
 * Checks Signature Version 4 of AWS, written from its specification ("Authenticating Requests: Using the Authorization
 * Header"), apart from the library that signs.
 */
import { createHash, createHmac } from "node:crypto";

const sha256Hex = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** Percent-encodes as AWS does: all but letters, digits and - . _ ~ */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

export interface Claim {
  readonly accessKeyId: string;
  readonly day: string;
  readonly region: string;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
}

export function readAuthorization(header: string | undefined): Claim | undefined {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      header ?? "",
    );
  if (found === null) return undefined;
  const [, accessKeyId, day, region, headers, signature] = found as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return { accessKeyId, day, region, signedHeaders: headers.split(";"), signature };
}

export interface SignedRequest {
  readonly method: string;
  /** Path and query as they were sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Returns the signature that a request should have. */
export function signatureOf({ method, target, headers }: SignedRequest, claim: Claim, secret: string): string {
  const [path = "/", query = ""] = target.split("?");
  const sorted = [...new URLSearchParams(query)].map(([key, value]) => `${encode(key)}=${encode(value)}`).sort();
  const valueOf = (name: string): string =>
    String(headers[name] ?? "")
      .trim()
      .replace(/ +/g, " ");
  const canonical = [
    method,
    path
      .split("/")
      .map((part) => encode(decodeURIComponent(part)))
      .join("/"),
    sorted.join("&"),
    ...claim.signedHeaders.map((name) => `${name}:${valueOf(name)}`),
    "",
    claim.signedHeaders.join(";"),
    valueOf("x-amz-content-sha256"),
  ].join("\n");
  const scope = `${claim.day}/${claim.region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", valueOf("x-amz-date"), scope, sha256Hex(canonical)].join("\n");
  const key = [claim.region, "s3", "aws4_request"].reduce<Buffer>(hmac, hmac(`AWS4${secret}`, claim.day));
  return hmac(key, toSign).toString("hex");
}
