/**
 * The conformance cases through one engine of one copy of the package. Plain JavaScript that asks nothing of its runtime but
 * the language: no files, no clock, no console, and no promises, since some of the runtimes have none to wait for.
 */

const ARRAYS = { f32: Float32Array, f16: Uint16Array, i8: Int8Array, u8: Uint8Array };
const FIELDS = ["confidence", "x_min", "y_min", "x_max", "y_max"];

/** Checks beside the cases: two of `nms`, two of errors. Of plans: two of what changes between frames, two of errors. */
export const CHECKS_BESIDE = 4;

/** Bytes of base64, without atob: not every engine has it. */
export function bytesOf(base64) {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const values = new Uint8Array(128);
  for (let i = 0; i < 64; i++) values[alphabet.charCodeAt(i)] = i;
  const { length } = base64;
  const padding = base64.charAt(length - 2) === "=" ? 2 : base64.charAt(length - 1) === "=" ? 1 : 0;
  const bytes = new Uint8Array((length / 4) * 3 - padding);
  for (let i = 0, o = 0; i < length; i += 4) {
    let word = 0;
    for (let k = 0; k < 4; k++) word = (word << 6) | values[base64.charCodeAt(i + k)];
    for (let k = 0; k < 3 && o < bytes.length; k++) bytes[o++] = word >> (16 - 8 * k);
  }
  return bytes;
}

/** "" if each expected detection has one of its own among those found, and none is left over; else what is wrong. */
function compare(found, expected, tolerance, ordered) {
  if (found.length !== expected.length) return `got ${found.length} detections, expected ${expected.length}`;
  // written so that a NaN does not fit
  const fits = (a, b) => a.class_id === b.class_id && FIELDS.every((f) => Math.abs(a[f] - b[f]) <= tolerance);
  const left = found.slice();
  for (let i = 0; i < expected.length; i++) {
    const at = ordered
      ? fits(found[i], expected[i])
        ? left.indexOf(found[i])
        : -1
      : left.findIndex((d) => fits(d, expected[i]));
    if (at < 0)
      return `got no ${JSON.stringify(expected[i])}${ordered ? ` at place ${i}` : ""} among ${JSON.stringify(left.slice(0, 3))}`;
    left.splice(at, 1);
  }
  return "";
}

/**
 * @param {object} boxwright the module: `boxwright`, `boxwright/ts` or `boxwright/wasm`; `boxwright/plan` or `boxwright/plan/ts`, for cases
 *   with the base64 of a `plan` in them
 * @param {"auto" | "simd" | "scalar" | "ts"} engine
 * @param {object[]} cases those of `loadCases()`: each tensor carries its bytes as `base64`
 * @returns {{engine: string, engines: string[], passed: number, failed: number, failures: string[]}} `engine`: which one really ran
 */
export function runConformance(boxwright, engine, cases) {
  const failures = [];
  const engines = [];
  let passed = 0;
  const check = (name, problem) => {
    if (problem === "") passed++;
    else failures.push(`${name}: ${problem}`);
  };
  const attempt = (name, body) => {
    try {
      check(name, body());
    } catch (e) {
      check(name, `threw ${e && e.name}: ${e && e.message}`);
    }
  };

  for (const c of cases) {
    const outputs = {};
    for (const t of c.tensors) {
      const { buffer } = bytesOf(t.base64);
      outputs[t.name] = { data: new ARRAYS[t.type](buffer), dims: t.dims, type: t.type };
      if (t.scale !== undefined) {
        outputs[t.name].scale = t.scale;
        outputs[t.name].zeroPoint = t.zeroPoint;
      }
    }
    attempt(c.name, () => {
      const decoder = boxwright.loadPlanSync
        ? boxwright.loadPlanSync(bytesOf(c.plan), { engine })
        : boxwright.createDecoderSync(c.config, Object.assign({}, c.options, { engine }));
      if (!engines.includes(decoder.engine)) engines.push(decoder.engine);
      const first = compare(decoder.decode(outputs).toArray(), c.expected, c.tolerance, c.ordered);
      if (first !== "") return first;
      // Decode from the slots before the third frame: that one may gather rows, and slots then hold no whole tensors.
      for (const t of c.tensors) decoder.slots[t.name].data.set(outputs[t.name].data);
      const second = compare(decoder.decode().toArray(), c.expected, c.tolerance, c.ordered);
      if (second !== "") return `from the slots: ${second}`;
      const third = compare(decoder.decode(outputs).toArray(), c.expected, c.tolerance, c.ordered);
      return third === "" ? "" : `third frame: ${third}`;
    });
  }

  const refused = (name, error, body) =>
    attempt(name, () => {
      try {
        body();
      } catch (e) {
        return e instanceof boxwright[error] &&
          e.name === error &&
          / got .*expected /.test(` ${e.message.replace(/\n/g, " ")}`)
          ? ""
          : `got ${e && e.name}: ${e && e.message}, expected a ${error} that says got and expected`;
      }
      return `got an answer, expected a ${error}`;
    });
  if (boxwright.loadPlanSync) ofPlans(boxwright, engine, cases[0], attempt, refused);
  else ofConfigs(boxwright, engine, attempt, refused);
  return { engine: engines.join("+"), passed, failed: failures.length, failures };
}

function ofConfigs(boxwright, engine, attempt, refused) {
  // by hand: the second box lies on the first (IoU 0.81), the third apart; NaN scores never count
  const boxes = [0, 0, 10, 10, 1, 1, 10, 10, 20, 20, 30, 30, 0, 0, 10, 10];
  attempt("nms", () => {
    const kept = Array.from(boxwright.nms(boxes, [0.8, 0.9, 0.7, NaN], { engine }));
    return kept.join() === "1,2" ? "" : `got ${kept.join()}, expected 1,2`;
  });
  attempt("nms within classes", () => {
    const kept = Array.from(boxwright.nms(boxes, [0.8, 0.9, 0.7, 0.1], { engine, classIds: [0, 1, 0, 0] }));
    return kept.join() === "1,0,2" ? "" : `got ${kept.join()}, expected 1,0,2`;
  });
  refused("a config that contradicts itself", "ConfigError", () =>
    boxwright.createDecoderSync({
      nn_config: { output_format: "raw", NN_family: "YOLO", NN_specific_metadata: { anchors: [1, 2, 3] } },
    }),
  );
  refused("a tensor of no such shape", "TensorError", () =>
    boxwright
      .createDecoderSync({ family: "yolov8", classes: 2, inputSize: [64, 64] }, { engine })
      .decode([{ data: new Float32Array(75), dims: [1, 3, 5, 5] }]),
  );
}

function ofPlans(boxwright, engine, { plan, tensors }, attempt, refused) {
  const bytes = bytesOf(plan);
  const load = () => boxwright.loadPlanSync(bytes, { engine });
  const outputs = tensors.map((t) => ({
    name: t.name,
    data: new ARRAYS[t.type](bytesOf(t.base64).buffer),
    dims: t.dims,
  }));
  attempt("maxDetections", () => {
    const decoder = load();
    decoder.update({ maxDetections: 1 });
    const { length } = decoder.decode(outputs);
    return length === 1 ? "" : `got ${length} detections, expected 1`;
  });
  attempt("iouThreshold", () => {
    const decoder = load();
    const { length } = decoder.decode(outputs);
    decoder.update({ iouThreshold: 1 });
    const more = decoder.decode(outputs).length;
    return more > length
      ? ""
      : `got ${more} detections with nothing suppressed, expected more than ${length}`;
  });
  refused("a damaged plan", "ConfigError", () => {
    const damaged = bytes.slice();
    damaged[100] ^= 1;
    boxwright.loadPlanSync(damaged, { engine });
  });
  refused("a tensor of no such shape", "TensorError", () =>
    load().decode([{ data: new Float32Array(75), dims: [1, 3, 5, 5] }]),
  );
}

/** True if this entry of the package carries the engine, or was handed its kernel. */
function hasEngine(boxwright, engine, cases) {
  try {
    if (boxwright.loadPlanSync) boxwright.loadPlanSync(bytesOf(cases[0].plan), { engine });
    else boxwright.nms([0, 0, 1, 1], [1], { engine });
    return true;
  } catch (e) {
    return !/carries none/.test(e.message);
  }
}

/**
 * Runs the cases with `auto`, then with each engine from there on that the entry has.
 * @returns the sum, with the engine that `auto` chose
 */
export function runAll(boxwright, cases) {
  const order = ["simd", "scalar", "ts"];
  const auto = { ...runConformance(boxwright, "auto", cases), engines: [] };
  for (const engine of order.slice(order.indexOf(auto.engine))) {
    if (engine !== auto.engine && !hasEngine(boxwright, engine, cases)) continue;
    const r = runConformance(boxwright, engine, cases);
    auto.engines.push(engine);
    auto.passed += r.passed;
    auto.failed += r.failed;
    auto.failures.push(...r.failures.map((f) => `${engine}: ${f}`));
    if (r.engine !== engine) {
      auto.failed++;
      auto.failures.push(`engine ${engine}: got ${r.engine}`);
    }
  }
  return auto;
}
