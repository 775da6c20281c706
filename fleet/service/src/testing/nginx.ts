/** Runs nginx with a configuration of `deploy/`, on a free port and with a certificate of a test authority. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Child } from "./child.ts";
import { temporaryFolder } from "./folder.ts";
import { freePort } from "./free-port.ts";
import { makeCertificates } from "./tls.ts";

const PROGRAM = "/usr/sbin/nginx";

export interface Nginx {
  readonly port: number;
  /** Path of the certificate of the authority that signed the server's certificate. */
  readonly ca: string;
  stop(): Promise<void>;
}

/**
 * Starts nginx.
 * @param example path of the configuration, with one `listen 443`, `server_name` and upstream server
 * @param target port of the service behind nginx
 */
export async function startNginx(example: string, target: number): Promise<Nginx> {
  const folder = temporaryFolder();
  const file = (name: string): string => join(folder.path, name);
  const port = await freePort();
  const text = readFileSync(example, "utf8");
  const { ca, cert, key } = makeCertificates(folder.path, `DNS:${/server_name (\S+);/.exec(text)![1]!}`);
  const config = text
    .replace("listen 443", `listen 127.0.0.1:${port}`)
    .replace(/ssl_certificate \S+;/, `ssl_certificate ${cert};`)
    .replace(/ssl_certificate_key \S+;/, `ssl_certificate_key ${key};`)
    .replace(/server 127\.0\.0\.1:\d+;/, `server 127.0.0.1:${target};`);
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${file(name)};`);
  writeFileSync(file("example.conf"), config);
  // Keep root as the user: workers of root otherwise run as a user who cannot write into the folder.
  const user = process.getuid?.() === 0 ? "user root;" : "";
  writeFileSync(
    file("nginx.conf"),
    `${user} daemon off; pid ${file("pid")}; error_log stderr notice; events {} http { access_log off; ${paths.join(" ")} include ${file("example.conf")}; }`,
  );
  const child = new Child([PROGRAM, "-c", file("nginx.conf"), "-p", folder.path]);
  await child.says(/start worker process/);
  return {
    ...{ port, ca },
    async stop() {
      await child.end("SIGTERM");
      folder.remove();
    },
  };
}
