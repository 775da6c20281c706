/** Certificate and key of the hub's own TLS. Renewed files are read while the hub runs. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import https from "node:https";
import type { SecureContextOptions } from "node:tls";
import { codeOf, messageOf, UserError } from "boxwright-service/errors";
import type { Logger } from "boxwright-service/log";

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly tlsCert: string;
  readonly tlsKey: string;
}

const LOOK_EVERY_MS = 60_000;

/**
 * Makes a server with TLS. The server looks for renewed files until it closes. If TLS cannot use them, the last
 * certificate stays in use.
 */
export function createTlsServer(
  settings: https.ServerOptions,
  files: CertificateFiles,
  log: Logger,
  everyMs = LOOK_EVERY_MS,
): https.Server {
  // Look before reading: files that are renewed in between differ at the next look.
  let seenState = stateOf(files);
  const server = https.createServer({ ...settings, ...readParts(files) });
  const timer = setInterval(() => {
    const state = stateOf(files);
    if (state === seenState) return;
    seenState = state;
    try {
      server.setSecureContext(readParts(files));
      log.info(files, "the renewed certificate is in use");
    } catch (error) {
      log.error({ ...files, error: messageOf(error) }, "TLS cannot use the changed files; the last certificate stays");
    }
  }, everyMs).unref();
  return server.once("close", () => clearInterval(timer));
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

/** Returns a text that changes with the files. Throws nothing: a timer looks, and its error would end the hub. */
const stateOf = ({ tlsCert, tlsKey }: CertificateFiles): string => `${stateOfFile(tlsCert)} ${stateOfFile(tlsKey)}`;

function stateOfFile(path: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(path);
    return `${mtimeMs} ${ino} ${size}`;
  } catch (error) {
    return codeOf(error);
  }
}
