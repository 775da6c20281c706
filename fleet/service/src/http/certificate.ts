/** Makes TLS servers from a certificate and a key. Reloads renewed files while the service runs. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import https from "node:https";
import type { SecureContextOptions } from "node:tls";
import { codeOf, messageOf, UserError } from "../errors.ts";
import type { Logger } from "../log.ts";

/** Paths of the PEM files, with the names of their settings for errors. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
  readonly certName: string;
  readonly keyName: string;
  /** Milliseconds between two checks. */
  readonly everyMs?: number | undefined;
}

const LOOK_EVERY_MS = 60_000;

/**
 * Makes a server with TLS. The server checks for renewed files until it closes. If the renewed files are invalid, the
 * last certificate stays in use.
 */
export function createTlsServer(settings: https.ServerOptions, certificate: Certificate, log: Logger): https.Server {
  const { cert, key, everyMs = LOOK_EVERY_MS } = certificate;
  const files = { cert, key };
  // Read the state before the files, so that a renewal in between is noticed at the next check.
  let seenState = stateOf(certificate);
  const server = https.createServer({ ...settings, ...readParts(certificate) });
  const timer = setInterval(() => {
    const state = stateOf(certificate);
    if (state === seenState) return;
    seenState = state;
    try {
      server.setSecureContext(readParts(certificate));
      log.info(files, "the renewed certificate is in use");
    } catch (error) {
      log.error({ ...files, error: messageOf(error) }, "TLS cannot use the changed files; the last certificate stays");
    }
  }, everyMs).unref();
  return server.once("close", () => clearInterval(timer));
}

/**
 * Reads both files.
 * @throws UserError if a file cannot be read, or if key and certificate do not match (OpenSSL itself would accept a key
 * of another type)
 */
function readParts(certificate: Certificate): SecureContextOptions {
  const { certName, keyName } = certificate;
  const [cert, key] = [readPart(certName, certificate.cert), readPart(keyName, certificate.key)];
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key, minVersion: "TLSv1.2" };
  } catch (error) {
    throw notUsable(certificate, messageOf(error));
  }
  throw notUsable(certificate, "the key is that of another certificate");
}

const notUsable = ({ certName, keyName }: Certificate, why: string): UserError =>
  new UserError(
    `${certName}, ${keyName}: got files that TLS cannot use (${why}); ` +
      "expected PEM files of a certificate chain and of its private key, without a password",
  );

function readPart(name: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UserError(`${name}: got ${path}, which cannot be read (${messageOf(error)}); expected a PEM file`);
  }
}

/**
 * Returns a text that changes with the files. Never throws, since a timer calls it and an error would end the service.
 */
const stateOf = ({ cert, key }: Certificate): string => `${stateOfFile(cert)} ${stateOfFile(key)}`;

function stateOfFile(path: string): string {
  try {
    const { mtimeMs, ino, size } = statSync(path);
    return `${mtimeMs} ${ino} ${size}`;
  } catch (error) {
    return codeOf(error);
  }
}
