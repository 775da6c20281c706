/** A camera over RTSP (camera.py) on a port of its own, to be killed and brought back. */
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { Child } from "boxwright-service/testing/child";
import { freePort } from "boxwright-service/testing/free-port";
import { PYTHON } from "./tools.ts";

const SCRIPT = fileURLToPath(new URL("camera.py", import.meta.url));

export class RtspCamera {
  readonly #port: number;
  #child: Child | null = null;

  private constructor(port: number) {
    this.#port = port;
  }

  static async make(): Promise<RtspCamera> {
    const camera = new RtspCamera(await freePort());
    onTestFinished(() => camera.kill());
    return camera;
  }

  /** Returns the address, with a password. */
  url(password = "secret"): string {
    return `rtsp://user:${password}@127.0.0.1:${this.#port}/live`;
  }

  /** @param colour of each picture, 0xRRGGBB */
  async start(colour: number): Promise<void> {
    this.#child = new Child([PYTHON, SCRIPT, String(this.#port), colour.toString(16)]);
    await this.#child.says(/^ready$/m);
  }

  async kill(): Promise<void> {
    await this.#child?.end("SIGKILL");
    this.#child = null;
  }
}
