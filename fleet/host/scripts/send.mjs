// Publishes frames of made-up cameras as agents do, waits until the hosts have stored them, and prints both rates.
//   node scripts/send.mjs --nats nats://127.0.0.1:4222 [--cameras 8] [--frames 50] [--type detection|f32|f16|i8] [--partitions 1]
import { createHash, randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { crc32 } from "node:zlib";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { connect, headers } from "@nats-io/transport-node";
import { createDecoderSync, packetHeaders, toPacket } from "boxwright";

const text = (value) => ({ type: "string", default: value });
const { values } = parseArgs({
  options: {
    nats: text("nats://127.0.0.1:4222"),
    cameras: text("8"),
    frames: text("50"),
    type: text("detection"),
    partitions: text("1"),
    flight: text("8"),
  },
});
const [cameras, frames, partitions, flight] = [values.cameras, values.frames, values.partitions, values.flight].map(
  Number,
);
const BOXES = 8400;
const config = { family: "yolov8", classes: 80, inputSize: [640, 640] };
const decoder = createDecoderSync(config);
const frame = { width: 1280, height: 720, resize: "letterbox" };
const run = randomBytes(4).toString("hex");

/** Returns outputs of [1, 84, 8400] with twenty boxes. */
function outputsOf(type) {
  const values = new Float32Array(84 * BOXES);
  for (let box = 0; box < 20; box++) {
    const cell = box * 401;
    [60 + box * 25, 200 + box * 10, 40, 60].forEach((value, row) => (values[row * BOXES + cell] = value));
    values[(4 + box) * BOXES + cell] = 0.9 - box / 50;
  }
  const dims = [1, 84, BOXES];
  if (type === "f16") return { output0: { data: new Uint16Array(values.length), dims, type: "f16" } };
  // Use one scale for boxes and scores: only the count of bytes matters here.
  if (type === "i8")
    return {
      output0: {
        data: Int8Array.from(values, (v) => Math.max(-128, Math.min(127, v))),
        dims,
        type: "i8",
        scale: 0.007,
        zeroPoint: 0,
      },
    };
  return { output0: { data: values, dims } };
}

function packetOf(camera, n, outputs) {
  const about = {
    id: `${run}-${camera}-${n}`,
    source: "/devices/demo",
    subject: `camera ${camera}`,
    time: new Date(),
    sequence: n,
  };
  return { bytes: toPacket(decoder, outputs, frame, about), about };
}

const url = new URL(values.nats);
const connection = await connect({ servers: `${url.hostname}:${url.port || 4222}` });
const client = jetstream(connection);
const manager = await jetstreamManager(connection);
await (await new Kvm(connection).create("boxwright-configs")).put(decoder.configHash, JSON.stringify({ config }));

async function publish(camera, n, outputs) {
  const { bytes, about } = packetOf(camera, n, outputs);
  const partition = (crc32 ? crc32(`${about.source}\n${about.subject}`) : camera) % partitions;
  const hash = (value) => createHash("sha256").update(value).digest("hex");
  const given = headers();
  for (const [name, value] of Object.entries(packetHeaders(bytes))) given.set(name, value);
  const subject = `boxwright.packets.${partition}.${hash(about.subject).slice(0, 16)}`;
  for (;;)
    try {
      await client.publish(subject, bytes, { msgID: hash(`${about.source}\n${about.id}`), headers: given });
      return bytes.length;
    } catch (error) {
      // The stream is full, or the broker is unreachable. An agent would keep the packet in its spool.
      console.error(String(error));
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
}

// Decode once: in each packet, decoding took a quarter of the time of all processes.
const outputs =
  values.type === "detection" ? decoder.decode(outputsOf(values.type), frame).copy() : outputsOf(values.type);
const work = Array.from({ length: cameras * frames }, (_, i) => [i % cameras, Math.floor(i / cameras)]);
const count = work.length;
const start = performance.now();
let size = 0;
await Promise.all(
  Array.from({ length: flight }, async () => {
    for (let next = work.shift(); next; next = work.shift()) size = await publish(next[0], next[1], outputs);
  }),
);
const published = (performance.now() - start) / 1000;
while ((await manager.streams.info("BOXWRIGHT")).state.messages > 0)
  await new Promise((resolve) => setTimeout(resolve, 20));
const taken = (performance.now() - start) / 1000;
const rate = (seconds) => `${Math.round(count / seconds)} /s`;
console.log(
  `${count} packets (${values.type}) of ${size} bytes: published ${rate(published)}, taken by the hosts ${rate(taken)}`,
);
await connection.close();
