/** Programs that some tests need. CI installs them (debian.sh), and counts a skipped test as a failure. */
import { spawnSync } from "node:child_process";

const runs = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: "ignore" }).status === 0;

export const hasFfmpeg = runs("ffmpeg", "-version");
/** Debian's Python, which has GStreamer's server of RTSP. */
export const PYTHON = "/usr/bin/python3";
const IMPORTS = [
  'import gi; gi.require_version("GstRtspServer", "1.0")',
  "from gi.repository import Gst, GstRtspServer; Gst.init(None)",
  'assert all(map(Gst.ElementFactory.find, ["videotestsrc", "jpegenc", "rtpjpegpay"]))',
];
export const hasRtspServer = runs(PYTHON, "-c", IMPORTS.join("\n"));

/** Says once which tests are skipped, and why. */
export function sayWhatIsMissing(): void {
  if (!hasFfmpeg) console.warn("SKIPPED, because this machine has no ffmpeg (Debian: ffmpeg): videos and cameras.");
  if (!hasRtspServer)
    console.warn("SKIPPED, because this machine has no GStreamer RTSP server (debian.sh installs it): RTSP cameras.");
}
