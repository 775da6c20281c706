// What Frigate's detector plug-in "zmq" sends, and what it expects back. detector.mjs has the socket.
//
// A request is a list of frames, the first of them JSON:
//   { model_request: true, model_name }            is this model loaded?
//   { model_data: true, model_name }, bytes        load it
//   { shape, dtype, model_type }, bytes            find the objects in this picture
// The last one is answered by 480 bytes: 20 rows of class id, score, y_min, x_min, y_max, x_max, in f32. Unused rows are 0.

const ROWS = 20;
const VALUES = 6;

/** A request that cannot be answered, with the reason. */
class BadRequest extends Error {}

/** Returns the pixels of a picture, as `detect` takes them. */
export function pictureOf({ shape, dtype }, bytes) {
  const got = `a tensor of ${dtype} [${shape}], ${bytes.length} bytes`;
  const [batch, a, b, c] = Array.isArray(shape) ? shape : [];
  if (batch !== 1 || shape.length !== 4 || !shape.every((size) => Number.isSafeInteger(size) && size > 0))
    throw new BadRequest(`got ${got}, expected one picture. Set model.input_tensor to nhwc in Frigate.`);
  const interleaved = c === 3;
  if (!interleaved && a !== 3)
    throw new BadRequest(`got ${got}, expected three channels. Set model.input_tensor to nhwc in Frigate.`);
  const [height, width] = interleaved ? [a, b] : [b, c];
  const size = { uint8: 1, float32: 4 }[dtype];
  if (size === undefined)
    throw new BadRequest(`got ${got}, expected uint8 or float32. Set model.input_dtype to int in Frigate.`);
  if (bytes.length !== width * height * 3 * size)
    throw new BadRequest(`got ${got}, expected ${width * height * 3 * size} bytes`);
  const pixels = size === 1 ? bytes : toBytes(bytes);
  return { data: interleaved ? pixels : interleave(pixels, width * height), width, height, format: "rgb" };
}

/** Returns 0..1 in f32 as 0..255. Frigate has divided bytes by 255, so that nothing is lost. */
function toBytes(bytes) {
  // Copy: a frame may begin at any address.
  const values = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const pixels = new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) {
    if (!(values[i] >= 0 && values[i] <= 1))
      throw new BadRequest(
        `got a value of ${values[i]}, expected 0..1. Set model.input_dtype to int in Frigate.`,
      );
    pixels[i] = Math.round(values[i] * 255);
  }
  return pixels;
}

function interleave(planes, plane) {
  const pixels = new Uint8Array(planes.length);
  for (let i = 0; i < plane; i++)
    for (let channel = 0; channel < 3; channel++) pixels[i * 3 + channel] = planes[channel * plane + i];
  return pixels;
}

/** Returns the rows that Frigate reads: it stops at the first row with too low a score. */
export function rowsOf(detections) {
  const rows = new Float32Array(ROWS * VALUES);
  const best = detections.toArray().sort((a, b) => b.confidence - a.confidence);
  best.slice(0, ROWS).forEach(({ class_id, confidence, x_min, y_min, x_max, y_max }, i) => {
    rows.set([class_id, confidence, y_min, x_min, y_max, x_max], i * VALUES);
  });
  return Buffer.from(rows.buffer);
}

/**
 * Returns a function that answers requests, one at a time. It never throws: Frigate waits for an answer to each request.
 * @param open makes a detector of the bytes of a model
 * @param detector the detector to begin with. Without one, Frigate sends its model.
 * @param log gets a message about each request that failed
 */
export function createAnswerer({ open, detector = null, log }) {
  // The name of the model that Frigate sent. A detector from the command line stands for every name.
  let sent = null;

  async function load(name, bytes) {
    const loaded = await open(bytes);
    await detector?.close();
    [detector, sent] = [loaded, name];
    return true;
  }

  async function detect(header, bytes) {
    if (detector === null) throw new BadRequest("got a picture before a model");
    return rowsOf(await detector.detect(pictureOf(header, bytes)));
  }

  const failed = (answer) => (error) => {
    log(error.message);
    return answer;
  };
  const json = (value) => Buffer.from(JSON.stringify(value));

  return async function answer([head = "", bytes = new Uint8Array(0)]) {
    let header;
    try {
      header = Object(JSON.parse(head.toString()));
    } catch {
      header = {};
    }
    const name = header.model_name;
    if (header.model_request) {
      const isThere = detector !== null && (sent === null || sent === name);
      return json({ model_available: isThere, model_loaded: isThere });
    }
    if (header.model_data) {
      const loaded = await load(name, bytes).catch(failed(false));
      return json({ model_saved: loaded, model_loaded: loaded });
    }
    return detect(header, bytes).catch(failed(Buffer.alloc(ROWS * VALUES * 4)));
  };
}
