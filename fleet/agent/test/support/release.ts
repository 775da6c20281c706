/** Versions of the agent for tests: the built one under another number, whole or broken. */
import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { publicText, type Release, type SignedRelease, signRelease } from "boxwright-service/release";
import { temporaryFolder } from "./folder.ts";

const AGENT = fileURLToPath(new URL("../..", import.meta.url));

export interface Key {
  readonly pem: string;
  readonly text: string;
}

export function newKey(): Key {
  const { privateKey } = generateKeyPairSync("ed25519");
  return { pem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), text: publicText(privateKey) };
}

/** Packs the built agent as a version. @param main replaces the command */
export function makeArchive(version: string, main?: string): Buffer {
  const folder = temporaryFolder();
  const agent = join(folder, "node_modules", "boxwright-agent");
  mkdirSync(agent, { recursive: true });
  const about = JSON.parse(readFileSync(join(AGENT, "package.json"), "utf8")) as object;
  writeFileSync(join(agent, "package.json"), JSON.stringify({ ...about, version }));
  cpSync(join(AGENT, "dist"), join(agent, "dist"), { recursive: true });
  if (main !== undefined) writeFileSync(join(agent, "dist", "cli", "main.js"), main);
  // Dependencies are those of the workspace: an archive of their 300 MB would be slow to pack and to unpack.
  const shared = join(AGENT, "../node_modules");
  for (const name of readdirSync(shared))
    if (!name.startsWith(".") && name !== "boxwright-agent")
      symlinkSync(join(shared, name), join(folder, "node_modules", name));
  execFileSync("tar", ["-czf", join(folder, "agent.tgz"), "-C", folder, "node_modules"]);
  return readFileSync(join(folder, "agent.tgz"));
}

/** Signs an archive as a version. */
export function makeRelease(
  key: Key,
  version: string,
  archive: Buffer,
  part: Partial<Release> = {},
): { etag: string; signed: SignedRelease; archive: Buffer } {
  const sha256 = createHash("sha256").update(archive).digest("hex");
  const signed = signRelease(
    {
      ...{ version, sha256, size: archive.length, name: "agent.tgz" },
      ...{ platform: `${process.platform}-${process.arch}`, signed_at: new Date().toISOString(), ...part },
    },
    key.pem,
  );
  const etag = `agent:${createHash("sha256").update(signed.signature).digest("hex").slice(0, 16)}`;
  return { etag, signed, archive };
}
