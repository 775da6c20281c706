/**
 * Measures how long it takes to make and to read a packet of one [1,84,8400] frame. Compares this with a copy of the
 * tensor's bytes into the same kind of memory.
 */
import type * as Boxwright from "../src/entries/index.ts";
import { timeOf, type Timing } from "./measure.ts";
import { layOut, times, us } from "./table.ts";

export interface CodecRow {
  readonly memory: "reused" | "new";
  readonly copy: Timing;
  readonly codec: Timing;
}

const SIZE = 84 * 8400;
const about = { id: "frame-1", source: "/devices/7", subject: "door", time: "2026-01-31T12:00:00Z" };

/** Times making and reading a packet, and the copy of its tensor, in turns within this process. */
export async function measureCodec(milliseconds: number): Promise<readonly CodecRow[]> {
  const built = new URL("../dist/index.mjs", import.meta.url).href;
  const { createDecoderSync, fromPacket, toPacket } = (await import(built)) as typeof Boxwright;
  const decoder = createDecoderSync({ family: "yolov8", classes: 80, inputSize: [640, 640] });
  const data = Float32Array.from({ length: SIZE }, (_, i) => (i % 997) / 997);
  const outputs = { output0: { data, dims: [1, 84, 8400] } };
  const frame = { width: 1280, height: 720, resize: "letterbox" } as const;
  const packets = new Uint8Array(4 * SIZE + 4096);
  const target = new Float32Array(SIZE);
  // Use a value of the result, so that compilers keep the copy.
  const codec = (into?: Uint8Array): number => {
    const { tensors } = fromPacket(toPacket(decoder, outputs, frame, about, into));
    return Number(tensors[0].data[996]) + tensors.length;
  };
  const copyTo = (): number => {
    target.set(data);
    return target[996] + 1;
  };
  const copyNew = (): number => data.slice()[996] + 1;
  return [
    {
      memory: "reused",
      copy: await timeOf(copyTo, milliseconds),
      codec: await timeOf(() => codec(packets), milliseconds),
    },
    {
      memory: "new",
      copy: await timeOf(copyNew, milliseconds),
      codec: await timeOf(() => codec(), milliseconds),
    },
  ];
}

/** Lays out the codec's rows. */
export const codecTable = (rows: readonly CodecRow[]): readonly string[] => [
  "",
  "packet of [1,84,8400] f32, made and read, against a copy of its 2.8 MB",
  ...layOut(
    ["memory", "copy us", "packet us", "packet/copy"],
    rows.map(({ memory, copy, codec }) => [
      memory,
      us(copy.median),
      us(codec.median),
      times(codec.median / copy.median),
    ]),
    1,
  ),
];
