// Answers POST /detect, whose body is a PNG, with the detections as JSON. GET /health answers "ok".
//
//   npm install boxwright onnxruntime-node pngjs
//   node server.mjs yolo11n.onnx 8080
//   curl --data-binary @street.png http://localhost:8080/detect
//
// With Express: app.post("/detect", express.raw({ type: "*/*", limit: "20mb" }), async (req, res) =>
//   res.json(await enqueue(req.body)));
// detect() takes the bytes of a PNG, and with the package jpeg-js of a JPEG. It reads pictures of up to 250 million pixels.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import * as ort from "onnxruntime-node";
import { PNG } from "pngjs";
import { createDetector, onnxRuntime } from "boxwright";

const MAX_BYTES = 20e6;
const MAX_PIXELS = 50e6;
const [model, port] = process.argv.slice(2);
if (port === undefined) {
  console.error("usage: node server.mjs MODEL.onnx PORT");
  process.exit(2);
}

const network = { model: readFileSync(model), runtime: onnxRuntime(ort) };
const detector = await createDetector(network, { onNote: console.warn });

// A detector handles one image at a time, so that requests wait for each other.
let last = Promise.resolve();
function enqueue(image) {
  const result = last.then(async () => (await detector.detect(image)).toArray());
  last = result.catch(() => {});
  return result;
}

/** An error that is the client's, with the status to answer. */
class BadRequest extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new BadRequest(413, `got more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function readPng(bytes) {
  // Check the size before anything is unpacked: a small PNG can hold a very large picture.
  const isPng = bytes.length > 24 && bytes.readUInt32BE(0) === 0x89504e47;
  if (!isPng) throw new BadRequest(415, "got a body that is no PNG, expected the bytes of a PNG");
  if (bytes.readUInt32BE(16) * bytes.readUInt32BE(20) > MAX_PIXELS)
    throw new BadRequest(413, `got a picture above ${MAX_PIXELS} pixels`);
  try {
    return PNG.sync.read(bytes);
  } catch (error) {
    throw new BadRequest(400, `got a damaged PNG: ${error.message}`);
  }
}

async function answer(request) {
  const route = `${request.method} ${request.url}`;
  if (route === "GET /health") return "ok";
  if (route !== "POST /detect") throw new BadRequest(404, `got ${route}, expected POST /detect`);
  return enqueue(readPng(await readBody(request)));
}

const server = createServer(async (request, response) => {
  let status = 200;
  let body;
  try {
    body = await answer(request);
  } catch (error) {
    status = error.status ?? 500;
    body = { error: error.status ? error.message : "the network failed" };
    if (!error.status) console.error(error);
  }
  // What is left of a refused body is not read: the connection ends with the answer.
  const headers = { "content-type": "application/json", ...(status === 413 && { connection: "close" }) };
  response.writeHead(status, headers).end(JSON.stringify(body));
});
server.listen(Number(port), () => console.log(`http://localhost:${server.address().port}/detect`));
