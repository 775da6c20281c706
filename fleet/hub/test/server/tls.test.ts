/** TLS of the hub itself. */
import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { request, type RequestOptions } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as tlsConnect, type TLSSocket } from "node:tls";
import { makeCertificates } from "boxwright-service/testing/tls";
import { until } from "boxwright-service/testing/wait";
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { LIST, startHub, temporaryFolder } from "../support/hub.ts";
import { HubProcess, makeKey, run, useLinkAt } from "../support/process.ts";

let folder: { path: string; remove: () => void };
beforeEach(() => void (folder = temporaryFolder()));
afterEach(() => folder.remove());

describe.skipIf(!inject("openssl"))("TLS with a certificate of its own", () => {
  it("lets the hub listen on any address: HTTPS of version 1.2 and up, and nothing else", async () => {
    const certificate = join(folder.path, "cert.pem");
    const privateKey = join(folder.path, "key.pem");
    execFileSync(
      "openssl",
      [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-noenc",
        "-keyout",
        privateKey,
        "-out",
        certificate,
      ].concat(["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]),
      { stdio: "pipe" },
    );
    const plain = { HUB_DATABASE_FILE: join(folder.path, "hub.db") };
    const init = await run(["init", "--email", "root@example.org"], plain);
    const maker = await HubProcess.start(plain);
    const key = await makeKey(await useLinkAt(maker.url, init.json.link as string), init.json.team.id as string);
    await maker.stop();
    const tls = { HUB_TLS_CERT: certificate, HUB_TLS_KEY: privateKey, HUB_BASE_URL: "https://localhost" };
    const wrongKey = await run(["serve"], { ...plain, ...tls, HUB_TLS_KEY: certificate });
    expect(wrongKey.code).toBe(1);
    expect(wrongKey.stderr).toContain("HUB_TLS_CERT, HUB_TLS_KEY: got files that TLS cannot use");
    const hub = await HubProcess.start({ ...plain, ...tls, HUB_HOST: "0.0.0.0" });
    const ca = readFileSync(certificate);
    const get = (path: string, options: RequestOptions, body?: string) =>
      new Promise<{ status: number | undefined; text: string; headers: IncomingHttpHeaders; protocol: string | null }>(
        (resolve, reject) => {
          const sent = request(
            { host: "127.0.0.1", servername: "localhost", port: hub.port, path, ca, agent: false, ...options },
            (response) => {
              // Ask now: at the end of the answer the connection is gone.
              const protocol = (response.socket as TLSSocket).getProtocol();
              let text = "";
              response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
              response.on("end", () =>
                resolve({ status: response.statusCode, text, headers: response.headers, protocol }),
              );
            },
          );
          sent.on("error", reject);
          sent.end(body);
        },
      );
    expect(await get("/readyz", {})).toMatchObject({ status: 200, text: "ready\n", protocol: "TLSv1.3" });
    expect(await get("/readyz", { maxVersion: "TLSv1.2" })).toMatchObject({ status: 200, protocol: "TLSv1.2" });
    await expect(
      get("/readyz", { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }),
    ).rejects.toThrow();
    // Without our certificate as its authority a client does not believe it.
    await expect(get("/readyz", { ca: undefined })).rejects.toThrow(/self-signed/);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const list = await get("/graphql", { method: "POST", headers }, JSON.stringify({ query: LIST }));
    expect([list.status, list.text]).toEqual([200, '{"data":{"team":{"devices":{"nodes":[]}}}}']);
    expect((await get("/sign-in", {})).headers["strict-transport-security"]).toBe("max-age=31536000");
    // Plain HTTP on that port is no HTTP to it: no answer, and the hub goes on.
    await expect(fetch(`http://127.0.0.1:${hub.port}/readyz`)).rejects.toThrow();
    expect((await get("/healthz", {})).status).toBe(200);
    expect(await hub.stop()).toBe(0);
    expect(hub.output).not.toContain(key.slice(17));

    // A renewed certificate is in use without a restart. Files that do not fit change nothing.
    const renewing = await startHub({ env: tls, timeouts: { headers: 10_000, request: 20_000, certificate: 50 } });
    const fingerprint = () =>
      new Promise<string>((resolve, reject) => {
        const socket = tlsConnect({ port: renewing.running.port, rejectUnauthorized: false }, () => {
          resolve(socket.getPeerCertificate().fingerprint256);
          socket.destroy();
        }).on("error", reject);
      });
    const before = await fingerprint();
    mkdirSync(join(folder.path, "next"));
    const renewed = makeCertificates(join(folder.path, "next"), "DNS:localhost");
    writeFileSync(certificate, readFileSync(renewed.cert));
    await until(() => renewing.logs().includes("TLS cannot use the changed files"));
    expect(await fingerprint()).toBe(before);
    writeFileSync(privateKey, readFileSync(renewed.key));
    await until(() => renewing.logs().includes("the renewed certificate is in use"));
    expect(await fingerprint()).toBe(new X509Certificate(readFileSync(renewed.cert)).fingerprint256);
    // Neither does a file that cannot be looked at: a link to itself fails as a folder without permission does.
    rmSync(certificate);
    symlinkSync(certificate, certificate);
    await until(() => renewing.logs().includes("ELOOP"));
    expect(await fingerprint()).toBe(new X509Certificate(readFileSync(renewed.cert)).fingerprint256);
    rmSync(certificate);
    writeFileSync(certificate, readFileSync(renewed.cert));
    await renewing.stop();

    // A connection that sends no TLS greeting is cut soon.
    const hasty = await startHub({ env: tls, timeouts: { headers: 500, request: 1000 } });
    const mute = connect(hasty.running.port, "127.0.0.1").on("error", () => undefined);
    await new Promise((resolve) => mute.resume().on("close", resolve));
    await hasty.stop();
  });
});
