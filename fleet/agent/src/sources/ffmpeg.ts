/** Runs ffmpeg as a child process. ffmpeg converts a video, an RTSP stream or a V4L2 device to frames on a pipe. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { type Problem, withoutSecrets } from "../core/errors.ts";
import type { RtspSettings, SourceSettings, V4l2Settings, VideoSettings } from "../settings/sources.ts";
import { type PpmFrame, PpmReader } from "./ppm.ts";

/** Largest number of pixels of a frame: 16K. */
const MOST_PIXELS = 140e6;
/** Milliseconds from the signal to end until ffmpeg is killed. */
const GRACE = 2000;

/** Returns the arguments of ffmpeg. The process gets them as a list, without a shell. */
export function argumentsFor(settings: VideoSettings | RtspSettings | V4l2Settings): string[] {
  const { fps, hwaccel } = settings;
  return [
    ...["-nostdin", "-hide_banner", "-loglevel", "error"],
    // With hardware decoding, ffmpeg copies the frames back to memory. It decodes in software what the hardware cannot
    // decode.
    ...(hwaccel === null ? [] : ["-hwaccel", hwaccel]),
    ...inputFor(settings),
    ...["-map", "0:v:0", "-an", "-sn", "-dn"],
    // Without a rate, pass each input frame on exactly once. By default, ffmpeg may repeat or drop frames.
    ...(fps === null ? ["-fps_mode", "passthrough"] : ["-vf", `fps=${fps}`]),
    ...["-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24", "pipe:1"],
  ];
}

function inputFor(settings: VideoSettings | RtspSettings | V4l2Settings): string[] {
  // Allow only the protocol "file": otherwise, ffmpeg would open the addresses in a playlist.
  if (settings.kind === "video") return ["-protocol_whitelist", "file", "-i", `file:${settings.path}`];
  if (settings.kind === "rtsp")
    return ["-f", "concat", "-safe", "0", "-protocol_whitelist", "pipe,rtsp,rtp,tcp,udp,tls", "-i", "pipe:0"];
  const { size, fps, path } = settings;
  return [
    ...["-f", "v4l2"],
    ...(size ? ["-video_size", size.join("x")] : []),
    ...(fps === null ? [] : ["-framerate", String(fps)]),
    ...["-i", path],
  ];
}

/**
 * Returns the text for ffmpeg's standard input, "" for none. A camera's address contains a password, and every user can
 * read the arguments of a process. So the address is in a playlist for the "concat" demuxer.
 */
export function playlistFor(settings: VideoSettings | RtspSettings | V4l2Settings): string {
  if (settings.kind !== "rtsp") return "";
  const url = settings.url.replace(/^rtsps?:/i, (scheme) => scheme.toLowerCase()).replaceAll("'", String.raw`'\''`);
  return `ffconcat version 1.0\nfile '${url}'\noption rtsp_transport tcp\noption timeout 10000000\n`;
}

/** Returns a problem for each hardware decoding method that this ffmpeg does not have. */
export function hwaccelProblems(sources: readonly SourceSettings[], command = "ffmpeg"): Problem[] {
  const asked = sources.map((source) => ("hwaccel" in source ? source.hwaccel : null));
  if (asked.every((name) => name === null)) return [];
  const { stdout, error } = spawnSync(command, ["-hide_banner", "-hwaccels"], { encoding: "utf8", timeout: 10_000 });
  if (error) return [{ path: "sources", message: `${command} cannot be started: ${error.message}` }];
  const [, ...known] = stdout.split("\n").map((line) => line.trim());
  const list = ["auto", ...known.filter(Boolean)];
  return asked.flatMap((name, i) =>
    name === null || list.includes(name)
      ? []
      : [
          {
            path: `sources[${i}].hwaccel`,
            message: `got ${name}, expected one that this ffmpeg has: ${list.join(", ")}`,
          },
        ],
  );
}

/** Result of a run of ffmpeg. */
export interface FfmpegEnd {
  readonly code: number | null;
  /** Last lines of ffmpeg's log, without the user and password of addresses. */
  readonly message: string;
}

/** Returns the problem to report if ffmpeg wrote no message. */
export const endOf = (code: number | null): string => `ffmpeg ended (${code ?? "killed"}) without a message`;

/** A run of ffmpeg. */
export class Ffmpeg {
  /** Resolves when the process has ended. */
  readonly ended: Promise<FfmpegEnd>;
  readonly #child: ChildProcess;
  #message = "";

  /**
   * Starts ffmpeg.
   * @param onFrame called for each frame; an error that it throws ends the run
   * @param input text for the standard input
   */
  constructor(args: readonly string[], onFrame: (frame: PpmFrame) => void, command = "ffmpeg", input = "") {
    // Start a process group, so that ffmpeg's child processes can be ended too.
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], detached: true });
    // Ignore a closed pipe, since exit code and log of the process state the reason.
    this.#child.stdin!.on("error", () => undefined).end(input);
    const reader = new PpmReader(MOST_PIXELS, onFrame);
    this.#child.stdout!.on("data", (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        this.#note(String(error));
        this.#kill("SIGKILL");
      }
    });
    this.#child.stderr!.on("data", (chunk: Buffer) => this.#note(chunk.toString("utf8")));
    this.ended = new Promise((resolve) => {
      const end = (code: number | null): void => resolve({ code, message: withoutSecrets(this.#message.trim()) });
      this.#child.on("error", (error) => {
        this.#note(`${command} cannot be started: ${error.message}`);
        end(null);
      });
      this.#child.on("close", end);
    });
  }

  /** Stops reading. ffmpeg then waits as soon as the pipe is full. */
  pause(): void {
    this.#child.stdout!.pause();
  }

  resume(): void {
    this.#child.stdout!.resume();
  }

  /** Ends the process and its children. */
  async close(): Promise<void> {
    this.#kill("SIGTERM");
    const timer = setTimeout(() => this.#kill("SIGKILL"), GRACE);
    this.resume();
    await this.ended;
    clearTimeout(timer);
  }

  #note(text: string): void {
    this.#message = `${this.#message}${text}`.slice(-2000);
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Ignore the error, since the process has ended meanwhile.
    }
  }
}
