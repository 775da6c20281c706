/** Mounts disks that only a test and its processes see. */
import { spawnSync } from "node:child_process";

export const isRoot = process.getuid?.() === 0;
/** Arguments of `unshare` for a mount namespace. */
export const NAMESPACE = isRoot ? ["-m"] : ["-rm"];

/** True if tests may mount disks here. Containers may forbid this. */
export const canMount = spawnSync("unshare", [...NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;
