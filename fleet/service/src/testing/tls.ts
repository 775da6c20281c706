/** Makes certificates of an unknown authority with openssl. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Certificates {
  /** Path of the authority's certificate. */
  readonly ca: string;
  /** Path of the certificate for a server at 127.0.0.1 and localhost. */
  readonly cert: string;
  readonly key: string;
}

/** @param names that the server's certificate is valid for */
export function makeCertificates(folder: string, names = "IP:127.0.0.1,DNS:localhost"): Certificates {
  const openssl = (...args: string[]): Buffer => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const fresh = ["req", "-newkey", "rsa:2048", "-nodes"];
  openssl(...fresh, "-x509", "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem");
  openssl(...fresh, "-subj", "/CN=server", "-keyout", "key.pem", "-out", "request.pem");
  writeFileSync(join(folder, "names"), `subjectAltName=${names}`);
  const signing = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  openssl("x509", "-req", "-in", "request.pem", ...signing, "-out", "cert.pem");
  return { ca: join(folder, "ca.pem"), cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
}
