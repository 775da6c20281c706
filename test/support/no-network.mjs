/** `node --import no-network.mjs`: every way out of the process throws, and is written to standard error. */
import { syncBuiltinESMExports } from "node:module";
import dgram from "node:dgram";
import dns from "node:dns";
import net from "node:net";
import childProcess from "node:child_process";

function trap(object, name) {
  object[name] = () => {
    process.stderr.write(`REACHED FOR ${name}\n`);
    throw new Error(`reached for ${name}`);
  };
}
trap(globalThis, "fetch");
for (const name of ["WebSocket", "EventSource"]) trap(globalThis, name);
trap(net.Socket.prototype, "connect");
trap(dgram, "createSocket");
trap(dns, "lookup");
for (const name of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync"])
  trap(childProcess, name);
syncBuiltinESMExports();
