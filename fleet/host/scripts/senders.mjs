// Measures how many frames a second a host stores for many senders over HTTP. A sender sends its next frame when the
// last one is acknowledged. With `--rate`, all senders together offer at most this many frames a second.
//   node scripts/senders.mjs http://127.0.0.1:8790 [--senders 64] [--seconds 5] [--rate 500]
import { Agent, request } from "node:http";
import { parseArgs } from "node:util";
import { createDecoderSync, toPacket } from "boxwright";

const text = (value) => ({ type: "string", default: value });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { senders: text("64"), seconds: text("5"), rate: text("0") },
});
const url = new URL("/v1/packets", positionals[0]);
const [senders, seconds, rate] = [values.senders, values.seconds, values.rate].map(Number);
const decoder = createDecoderSync({ family: "yolov8", classes: 2, inputSize: [64, 64] });
const output0 = { data: new Float32Array(6 * 84), dims: [1, 6, 84] };
for (let box = 0; box < 5; box++)
  [20 + 8 * box, 20, 8, 8, 0.9].forEach((value, row) => (output0.data[row * 84 + box] = value));
const detections = decoder.decode({ output0 }).copy();
const agent = new Agent({ keepAlive: true, maxSockets: senders });

function post(body) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent, headers: { "content-length": body.length } });
    sent.on("response", (answer) => answer.resume().once("end", () => resolve(answer.statusCode)));
    sent.on("error", reject).end(body);
  });
}

const times = [];
let refused = 0;
const run = Date.now();
const end = performance.now() + seconds * 1000;
await Promise.all(
  Array.from({ length: senders }, async (_, sender) => {
    const start = end - seconds * 1000;
    for (let n = 0; performance.now() < end; n++) {
      const due = rate > 0 ? start + ((n + sender / senders) * 1000 * senders) / rate : 0;
      if (due > performance.now()) await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
      const about = { id: `${run}-${n}`, source: `/devices/${sender}`, subject: "door", time: new Date(), sequence: n };
      const body = toPacket(decoder, detections, { width: 640, height: 480, resize: "letterbox" }, about);
      const begin = performance.now();
      if ((await post(body)) === 204) times.push(performance.now() - begin);
      else refused++;
    }
  }),
);
times.sort((a, b) => a - b);
const p = (part) => times[Math.floor(times.length * part)]?.toFixed(1);
console.log(
  `${senders} senders: ${Math.round(times.length / seconds)} frames/s, p50 ${p(0.5)} ms, p99 ${p(0.99)} ms, ${refused} refused`,
);
agent.destroy();
