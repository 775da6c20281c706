/** Frames of a small network, and the packets made of them. */
import { type Decoder, createDecoderSync, toPacket } from "boxwright";

export const config = { family: "yolov8", classes: 2, inputSize: [64, 64], labels: ["cat", "dog"] } as const;
export const decoder: Decoder = createDecoderSync(config);
export const hash = decoder.configHash!;
export const configBody = JSON.stringify({ config });

const CELLS = 84;
export const frameSize = { width: 1280, height: 720, resize: "letterbox" } as const;

/** Returns outputs with a few boxes that differ from frame to frame. */
export function outputsOf(n: number): { output0: { data: Float32Array; dims: number[] } } {
  const data = new Float32Array(6 * CELLS);
  for (let box = 0; box < 3; box++) {
    const cell = (n * 7 + box * 29) % CELLS;
    const values = [10 + ((n * 3 + box * 17) % 44), 20 + ((n + box * 11) % 24), 8.1 + (n % 5), 6.3 + box];
    values.forEach((value, row) => (data[row * CELLS + cell] = value));
    data[(4 + (box % 2)) * CELLS + cell] = 0.6 + ((n * 13 + box) % 30) / 100;
  }
  return { output0: { data, dims: [1, 6, CELLS] } };
}

export interface About {
  readonly id?: string;
  readonly source?: string;
  readonly subject?: string;
  readonly time?: Date | string;
  readonly sequence?: number;
}

/** Time of capture of a frame of the tests: 10 ms apart. */
export const timeOf = (n: number): Date => new Date(Date.UTC(2026, 0, 1) + n * 10);

export const about = (n: number, given: About = {}) => ({
  id: `frame-${n}`,
  source: "/devices/1",
  subject: "door",
  time: timeOf(n),
  sequence: n,
  ...given,
});

export const rawPacket = (n: number, given?: About): Uint8Array =>
  toPacket(decoder, outputsOf(n), frameSize, about(n, given));

export const detectionPacket = (n: number, given?: About): Uint8Array =>
  toPacket(decoder, decoder.decode(outputsOf(n), frameSize), frameSize, about(n, given));
