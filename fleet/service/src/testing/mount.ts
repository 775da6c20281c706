/** Mounts that only a test and its processes see. */
import { spawnSync } from "node:child_process";

export const isRoot = process.getuid?.() === 0;
/** Arguments of `unshare` for a mount namespace. */
export const NAMESPACE = isRoot ? ["-m"] : ["-rm"];

/** True if a test may mount a disk for itself: containers may forbid it. */
export const canMount = spawnSync("unshare", [...NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;
