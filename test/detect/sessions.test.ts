/** What `createDetector` says of a session that is none of this package's. */
import { expect, test } from "vitest";
import { createDetector } from "../../src/detect/detector.ts";

test.each([[{}], [null], [{ run: () => ({}), close: () => undefined }]])(
  "%j is refused by what it lacks",
  async (session) => {
    const made = createDetector({ session: session as never, config: { family: "yolov8" } });
    await expect(made).rejects.toThrow(
      /createDetector: session: got one without inputs.*runtime: onnxRuntime\(ort\)/,
    );
  },
);
