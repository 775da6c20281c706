/** GET of a picture of a snap, for an authenticated page or backend. */
import type { FilePlace } from "../files/files.ts";
import type { Exchange } from "boxwright-service/http/exchange";
import { sendFile } from "../http/range.ts";
import { refuse, refuseMethod } from "../http/refusals.ts";
import type { Services } from "../http/services.ts";
import { findSnapFile } from "../nouns/snap-query.ts";

/**
 * Headers of a picture. With them, browsers do not run the content as a page, and other sites cannot show the picture.
 */
const HEADERS = {
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  "content-disposition": "inline",
  // Let the browser cache the picture for this user, but ask the hub each time, since the picture may be deleted.
  "cache-control": "private, no-cache",
} as const;

export async function sendSnapFile(
  { db, files }: Services,
  exchange: Exchange,
  teamId: string,
  fileId: string,
): Promise<void> {
  if (exchange.method !== "GET" && exchange.method !== "HEAD") return refuseMethod(exchange, "GET, HEAD");
  const file = /^[0-9a-f-]{36}$/.test(fileId) ? await findSnapFile(db, teamId, fileId) : undefined;
  if (file === undefined) return refuse(exchange, "not_found", ", expected a file of a snap of the team");
  const place: FilePlace = { team: teamId, kind: "snaps", sha256: file.sha256 };
  // Check the file, since the snap may have been deleted after its row was read.
  if ((await files.size(place)) !== file.size) return refuse(exchange, "not_found", ", which was deleted");
  const read = (start: number, end: number) => files.read(place, start, end);
  await sendFile(exchange, { size: file.size, type: file.content_type, etag: file.sha256, read }, HEADERS);
}
