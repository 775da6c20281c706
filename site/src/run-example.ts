/** Runs an example of the documentation. */
import * as boxwright from "boxwright";

/** The output and detections of an example. */
export interface Ran {
  readonly printed: string;
  readonly error: string;
  readonly found: boxwright.Detections | null;
  readonly inputSize: readonly [number, number] | null;
  readonly engine: string;
  readonly microseconds: number;
}

const AsyncFunction = (async () => undefined).constructor as new (
  ...names: string[]
) => (...values: unknown[]) => Promise<void>;

/** Runs a program that imports only boxwright. Records its decodes, so that they can be drawn. */
export async function runExample(code: string): Promise<Ran> {
  const lines: string[] = [];
  let last: { decoder: boxwright.Decoder; found: boxwright.Detections } | null = null;
  let microseconds = 0;
  const watched = <D extends boxwright.Decoder>(decoder: D): D => {
    const decode = decoder.decode.bind(decoder);
    decoder.decode = (...given) => {
      let found = decode(...given);
      if (last === null) {
        // The first decode makes the plan: exclude it.
        const start = performance.now();
        found = decode(...given);
        microseconds = Math.round(1000 * (performance.now() - start));
      }
      last = { decoder, found: found.copy() };
      return found;
    };
    return decoder;
  };
  const own = {
    ...boxwright,
    createDecoder: async (...given: Parameters<typeof boxwright.createDecoder>) =>
      watched(await boxwright.createDecoder(...given)),
    createDecoderSync: (...given: Parameters<typeof boxwright.createDecoderSync>) =>
      watched(boxwright.createDecoderSync(...given)),
  };
  const print = (...words: unknown[]): void => void lines.push(words.map(textOf).join(" "));
  const program = code.replace(/import \{([^}]*)\} from "boxwright";/g, "const {$1} = boxwright;");
  let error = "";
  try {
    await new AsyncFunction("boxwright", "console", program)(own, { log: print, warn: print, error: print });
  } catch (e) {
    error = String(e);
  }
  const seen = last as { decoder: boxwright.Decoder; found: boxwright.Detections } | null;
  return {
    printed: lines.join("\n"),
    error,
    found: seen?.found ?? null,
    inputSize: seen?.decoder.config.inputSize ?? null,
    engine: seen?.decoder.engine ?? "",
    microseconds,
  };
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value);
