/** Compiles the agent before the tests: those that kill processes start `dist/cli/main.js`. Says what is skipped. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { sayWhatIsMissing } from "./tools.ts";

export default function setup(): void {
  const folder = fileURLToPath(new URL("../..", import.meta.url));
  execFileSync("npm", ["run", "--silent", "build"], { cwd: folder, stdio: "inherit" });
  sayWhatIsMissing();
}
