/** `boxwright-agent release`: makes a key for signing versions of the agent, and signs a version. Needs no hub. */
import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { messageOf } from "boxwright-service/errors";
import { readFlags } from "boxwright-service/flags";
import { publicText, signRelease } from "boxwright-service/release";
import { SettingsError } from "../core/errors.ts";

export const RELEASE_USAGE = `boxwright-agent release key FILE                     makes a key that signs versions of the agent
boxwright-agent release sign ARCHIVE.tgz --key FILE  prints the signed release for the hub
  --platform NAME (this machine's by default, such as linux-arm64), --passphrase-file FILE
`;
const ABOUT = "node_modules/boxwright-agent/package.json";

/** Runs the command. Returns the text for standard output. */
export function runRelease(args: readonly string[]): string {
  const texts = { key: "text", platform: "text", "passphrase-file": "text" } as const;
  const { values, words, problems } = readFlags(args, texts);
  const [verb, file] = words;
  if (problems.length > 0) throw wrong(problems.join("\n"));
  if (!["key", "sign"].includes(verb ?? "") || file === undefined || words.length > 2)
    throw wrong(`expected one of\n${RELEASE_USAGE}`);
  const given = values["passphrase-file"];
  const passphrase = given === undefined ? undefined : read(String(given)).toString("utf8").trim();
  if (verb === "key") return makeKey(file, passphrase);
  if (values.key === undefined) throw wrong("--key: got none, expected the file of `release key`");
  const key = read(String(values.key)).toString("utf8");
  return sign(file, key, String(values.platform ?? `${process.platform}-${process.arch}`), passphrase);
}

const wrong = (message: string): SettingsError => new SettingsError([{ path: "command line", message }]);

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw wrong(`${path} cannot be read (${messageOf(error)})`);
  }
}

/** Makes a key. Never overwrites a key file, since devices may trust that key. */
function makeKey(file: string, passphrase: string | undefined): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  const locked = passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase };
  try {
    writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem", ...locked }), { flag: "wx", mode: 0o600 });
  } catch (error) {
    throw wrong(`${file} cannot be written (${messageOf(error)})`);
  }
  return `${publicText(privateKey)}\n`;
}

function sign(archive: string, key: string, platform: string, passphrase: string | undefined): string {
  const bytes = read(archive);
  let version: unknown;
  try {
    const about = execFileSync("tar", ["-xzOf", archive, ABOUT], { stdio: ["ignore", "pipe", "ignore"] });
    ({ version } = JSON.parse(about.toString("utf8")) as { version?: unknown });
  } catch {
    throw wrong(`${archive} has no ${ABOUT}, expected a .tgz of a folder in which the agent is installed`);
  }
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const release = {
    ...{ version: String(version), platform, sha256, size: bytes.length, name: basename(archive) },
    signed_at: new Date().toISOString(),
  };
  try {
    return `${JSON.stringify(signRelease(release, key, passphrase))}\n`;
  } catch (error) {
    throw wrong(`--key: ${messageOf(error)}`);
  }
}
