/** Explains to an operator what to do when an S3-compatible store refuses a request. */
import { RefusedError, UnavailableError } from "boxwright-service/errors";

/** Address of a bucket, and the id of the access key that signs requests. */
export interface BucketPlace {
  /** Address without a slash at the end. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
}

/** Kind of a request. The error names it if the access key may not send this kind of request. */
export type Work = "write" | "read" | "delete" | "list";

interface Refusal {
  readonly status: number;
  /** XML with an error code. Empty for an answer to HEAD. */
  readonly body: string;
  /** Date header of the answer: the time by the store's clock. */
  readonly date: string | undefined;
}

const RIGHTS = "s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket";

const elementOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

export function explainRefusal(place: BucketPlace, work: Work, { status, body, date }: Refusal): UnavailableError {
  const { endpoint, bucket, region, accessKeyId } = place;
  const code = elementOf(body, "Code") ?? (status === 403 ? "AccessDenied" : status === 404 ? "NoSuchBucket" : "");
  const key = JSON.stringify(accessKeyId);
  const sentences: Readonly<Record<string, string>> = {
    NoSuchBucket: `HUB_S3_BUCKET: got ${JSON.stringify(bucket)}, which ${endpoint} does not have; make the bucket, or name another one`,
    InvalidAccessKeyId: `HUB_S3_ACCESS_KEY_ID: got ${key}, which ${endpoint} does not know; take the id of a key of this store`,
    SignatureDoesNotMatch: `HUB_S3_SECRET_ACCESS_KEY: got another secret than that of the key ${key}; take the one that belongs to it`,
    AccessDenied: `HUB_S3_ACCESS_KEY_ID: got ${key}, which may not ${work} in the bucket ${bucket}; allow it ${RIGHTS}`,
    RequestTimeTooSkewed: `the clock of this machine is ${skewText(date)} that of ${endpoint}; set it, for example with NTP`,
    AuthorizationHeaderMalformed: wrongRegion(region, elementOf(body, "Region")),
    PermanentRedirect: `HUB_S3_ENDPOINT: got ${endpoint}, and the bucket ${bucket} is at ${elementOf(body, "Endpoint") ?? "another address"}; name that one`,
    EntityTooLarge: `HUB_MODEL_BYTES: ${endpoint} takes no file of this size; set a smaller limit`,
  };
  const other = `${endpoint} answered ${status} ${code} to a request to ${work} in the bucket ${bucket}: ${elementOf(body, "Message") ?? "no reason given"}`;
  if (!Object.hasOwn(sentences, code)) return new UnavailableError(other);
  // Treat a wrong clock as temporary: a machine that has just started may soon get the time by NTP.
  const Problem = code === "RequestTimeTooSkewed" ? UnavailableError : RefusedError;
  return new Problem(sentences[code]);
}

function skewText(date: string | undefined): string {
  const minutes = Math.round((Date.now() - Date.parse(date ?? "")) / 60_000);
  if (Number.isNaN(minutes)) return "too far from";
  return `${Math.abs(minutes)} minutes ${minutes < 0 ? "behind" : "ahead of"}`;
}

const wrongRegion = (region: string, expected: string | undefined): string =>
  `HUB_S3_REGION: got ${JSON.stringify(region)}, expected ${expected === undefined ? "the region of the bucket" : JSON.stringify(expected)}`;
