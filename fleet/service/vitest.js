/** What the vitest configurations of all parts share. */
import { fileURLToPath } from "node:url";

/** Tests run from sources: of `boxwright-service` too. */
export const alias = [
  {
    find: /^boxwright-service\/((testing\/)?[a-z-]+)$/,
    replacement: `${fileURLToPath(new URL("src", import.meta.url))}/$1.ts`,
  },
];

export const test = {
  include: ["test/**/*.test.{ts,tsx}"],
  // onnxruntime-node would leave an empty log in the temporary folder for each process.
  env: { ORT_DISABLE_TELEMETRY: "1" },
  // Two cores, and several files start processes of their own.
  maxWorkers: 2,
  // No test is about how fast the machine is, which may be busy elsewhere.
  testTimeout: 240_000,
  hookTimeout: 120_000,
};
