/**
 * The last lines of a device's log, which agents send and hubs keep. Agent and hub both remove secrets and shorten the
 * lines, since an agent may be outdated or lie.
 */

export const MOST_LOG_LINES = 500;
export const MOST_LOG_BYTES = 65_536;
/** Largest number of characters of a line. The rest is cut off. */
const MOST_LINE = 2000;
const HIDDEN = "[redacted]";

/** Names whose values are secrets, in `name=value`, `"name":"value"` and `name: value`. */
const SECRET_NAME = `[\\w-]*(?:${[
  ...["pass(?:word|wd|phrase)?", "pwd", "secret", "token", "credential", "signature", "cookie"],
  "(?:api|access|adopt|private)[_-]?key",
].join("|")})[\\w-]*`;

/**
 * Patterns to hide, with their replacements. They hide too much rather than too little, since a leaked secret cannot be
 * recalled.
 */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs, HIDDEN],
  // User and password of an address. A password may contain a slash or an @, so hide up to the last @ of the word.
  [/\b([a-z][a-z\d+.-]*:\/\/)[^\s"'<>\\]*@/gi, `$1${HIDDEN}@`],
  // The whole Authorization header, whatever its scheme.
  [/\b((?:proxy-)?authorization\\*["']?\s*[:=]\s*\\*["']?)[^"'\\\r\n]+/gi, `$1${HIDDEN}`],
  [/\b(Bearer|Basic|Digest)\s+[\w.~+/=-]{6,}/gi, `$1 ${HIDDEN}`],
  [new RegExp(`(${SECRET_NAME}\\\\*["']?\\s*[:=]\\s*\\\\*["']?)[^\\s"'\\\\&,;}]+`, "gi"), `$1${HIDDEN}`],
  // Keys of hub, adoption and device, secrets of webhooks, JSON Web Tokens.
  [/\b(hub|bwa|bwd|whsec)_[\w+/=-]+/g, `$1_${HIDDEN}`],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, HIDDEN],
];

/** Returns a text without secrets. @param known secrets to remove wherever they occur */
export function redactLog(text: string, known: readonly string[] = []): string {
  const plain = known
    .filter((secret) => secret.length >= 6)
    .reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
  return RULES.reduce((rest, [form, shown]) => rest.replace(form, shown), plain);
}

/** Returns the last lines of a text that fit the limits. Removes control characters. */
export function cutLog(text: string): string {
  const kept: string[] = [];
  let bytes = 0;
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  for (const line of lines.slice(-MOST_LOG_LINES).reverse()) {
    // Remove control characters, which could rewrite a terminal line. PostgreSQL also refuses NUL.
    const plain = line.slice(0, MOST_LINE).replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
    bytes += Buffer.byteLength(plain) + 1;
    if (bytes > MOST_LOG_BYTES) break;
    kept.push(plain);
  }
  return kept.reverse().join("\n");
}
