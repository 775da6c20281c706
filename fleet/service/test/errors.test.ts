import { expect, it } from "vitest";
import { connectionProblem } from "../src/errors.ts";

const failed = (message: string, code: string): Error =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) });

it("a certificate that this machine does not take is told with what to do", () => {
  expect(connectionProblem(failed("self-signed certificate", "DEPTH_ZERO_SELF_SIGNED_CERT"))).toMatch(
    /^fetch failed: self-signed certificate\. Name .* NODE_EXTRA_CA_CERTS$/,
  );
  for (const code of ["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"])
    expect(connectionProblem(failed("certificate is not valid", code))).toMatch(/Set the clock of this machine/);
  expect(connectionProblem(failed("connect ECONNREFUSED", "ECONNREFUSED"))).toBe("fetch failed: connect ECONNREFUSED");
});
