/** Certificate and key of the hub's own TLS. Renewed files are read while the hub runs. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import https from "node:https";
import type { SecureContextOptions } from "node:tls";
import { messageOf, UserError } from "boxwright-service/errors";
import type { Logger } from "boxwright-service/log";

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly tlsCert: string;
  readonly tlsKey: string;
}

const LOOK_EVERY_MS = 60_000;

/** Makes a server with TLS. */
export const createTlsServer = (settings: https.ServerOptions, files: CertificateFiles): https.Server =>
  https.createServer({ ...settings, ...readParts(files) });

/** Looks for renewed files until the server closes. If TLS cannot use them, the certificate of before stays in use. */
export function followCertificate(
  server: https.Server,
  files: CertificateFiles,
  log: Logger,
  everyMs = LOOK_EVERY_MS,
): void {
  let last = stateOf(files);
  const timer = setInterval(() => {
    const state = stateOf(files);
    if (state === last) return;
    last = state;
    try {
      server.setSecureContext(readParts(files));
      log.info(files, "the renewed certificate is in use");
    } catch (error) {
      log.error({ ...files, error: messageOf(error) }, "TLS cannot use the changed files; the last certificate stays");
    }
  }, everyMs).unref();
  server.once("close", () => clearInterval(timer));
}

/**
 * Reads both files.
 * @throws UserError if they cannot be read, or do not belong together: OpenSSL takes a key of another kind in silence
 */
function readParts({ tlsCert, tlsKey }: CertificateFiles): SecureContextOptions {
  const [cert, key] = [readPart("HUB_TLS_CERT", tlsCert), readPart("HUB_TLS_KEY", tlsKey)];
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key, minVersion: "TLSv1.2" };
  } catch (error) {
    throw notUsable(messageOf(error));
  }
  throw notUsable("the key is that of another certificate");
}

const notUsable = (why: string): UserError =>
  new UserError(
    `HUB_TLS_CERT, HUB_TLS_KEY: got files that TLS cannot use (${why}); ` +
      "expected PEM files of a certificate chain and of its private key, without a password",
  );

function readPart(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UserError(`${name}: got ${path}, which cannot be read (${messageOf(error)}); expected a PEM file`);
  }
}

/** Returns a text that changes with the files. */
function stateOf({ tlsCert, tlsKey }: CertificateFiles): string {
  const stats = [tlsCert, tlsKey].map((path) => statSync(path, { throwIfNoEntry: false }));
  return stats.map((stat) => `${stat?.mtimeMs} ${stat?.ino} ${stat?.size}`).join(" ");
}
