/** A camera over RTSP (camera.py) on a port of its own, to be killed and brought back. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { freePort } from "boxwright-service/testing/free-port";
import { PYTHON } from "./tools.ts";

const SCRIPT = fileURLToPath(new URL("camera.py", import.meta.url));

export class RtspCamera {
  readonly #port: number;
  #child: ChildProcess | null = null;

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
    const args = [SCRIPT, String(this.#port), colour.toString(16)];
    const child = spawn(PYTHON, args, { stdio: ["ignore", "pipe", "ignore"] });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.stdout.once("data", () => resolve());
      child.once("exit", () => reject(new Error("the camera does not start")));
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }
}
