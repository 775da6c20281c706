/** Sends snaps as an agent does. */
import type { SnapRequest } from "boxwright-service/schema/protocol";
import type { Agent, Reply } from "./agent.ts";
import { sha256Of } from "./pictures.ts";

export const BOX = {
  class_id: 0,
  label: "person",
  confidence: 0.9,
  x_min: 0.25,
  y_min: 0.25,
  x_max: 0.75,
  y_max: 0.75,
};

let serial = 0;

/** Returns what a device says about a snap of these files. */
export function snapOf(files: readonly Buffer[], part: Partial<SnapRequest> = {}): SnapRequest {
  return {
    id: `snap-${++serial}`,
    name: "person",
    tags: ["night"],
    extras: { gate: "3" },
    created_at: new Date().toISOString(),
    application: "gate",
    event: {
      ...{ specversion: "1.0", id: "1", source: "device:x", type: "boxwright.detections" },
      data: { detections: [BOX] },
    },
    files: files.map((bytes, i) => ({
      ...{ name: `frame ${i}.png`, size: bytes.length, sha256: sha256Of(bytes) },
      ...{ content_type: "image/png", classification: "frame" },
    })),
    ...part,
  };
}

export const postSnap = (agent: Agent, json: object): Promise<Reply> => agent.ask("/device/snaps", { json });

export const putFile = (agent: Agent, snapId: string, bytes: Buffer, sha256 = sha256Of(bytes)): Promise<Reply> =>
  agent.ask(`/device/snaps/${snapId}/files/${sha256}`, { method: "PUT", body: new Uint8Array(bytes) });

/** Sends a whole snap, and returns its id. */
export async function sendSnap(
  agent: Agent,
  files: readonly Buffer[],
  part: Partial<SnapRequest> = {},
): Promise<string> {
  const { status, json } = await postSnap(agent, snapOf(files, part));
  if (status !== 201) throw new Error(`got ${status} ${JSON.stringify(json)}, expected a snap`);
  const { snap_id, missing } = json as { snap_id: string; missing: string[] };
  for (const bytes of files)
    if (missing.includes(sha256Of(bytes))) {
      const put = await putFile(agent, snap_id, bytes);
      if (put.status !== 204) throw new Error(`got ${put.status} ${JSON.stringify(put.json)}, expected 204`);
    }
  return snap_id;
}
