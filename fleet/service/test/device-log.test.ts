/** Redaction and limits of the lines of a device's log. */
import { expect, it } from "vitest";
import { cutLog, MOST_LOG_BYTES, MOST_LOG_LINES, redactLog } from "../src/device-log.ts";

const SECRET = "s3cr3tV4lue";

it.each([
  `rtsp://admin:${SECRET}@10.0.0.7:554/stream`,
  `rtsp://admin:a@b/${SECRET}@cam.lan/stream`,
  `got https://${SECRET}@host/, expected another`,
  `{"url":"mqtt://user:${SECRET}@broker"}`,
  `Authorization: Bearer ${SECRET}`,
  `Authorization: Custom ${SECRET} ${SECRET}`,
  `{"authorization":"Token ${SECRET}"}`,
  `{"err":"{\\"authorization\\":\\"Basic ${SECRET}\\"}"}`,
  `Proxy-Authorization: Basic ${SECRET}==`,
  `sent Bearer ${SECRET}`,
  `https://host/hook?token=${SECRET}&x=1`,
  `https://bucket/x?X-Amz-Signature=${SECRET}`,
  `https://host/hook?api_key=${SECRET}`,
  `{"password":"${SECRET}"}`,
  `{\\"mqttPassword\\": \\"${SECRET}\\"}`,
  `password: ${SECRET}`,
  `client_secret = '${SECRET}'`,
  `Set-Cookie: ${SECRET}; Path=/`,
  `key bwa_0123456789ab_${SECRET} is void`,
  `key bwd_0123456789ab_${SECRET} is void`,
  `hub_0123456789ab_${SECRET}`,
  `whsec_${SECRET}/abc+def=`,
  `got eyJhbGciOi.${SECRET}.${SECRET}`,
  `-----BEGIN PRIVATE KEY-----\n${SECRET}\n-----END PRIVATE KEY-----`,
  `{"pem":"-----BEGIN EC PRIVATE KEY-----\\n${SECRET}`,
])("hides the secret of %s", (line) => {
  expect(redactLog(line)).not.toContain(SECRET);
  expect(redactLog(line)).toContain("[redacted]");
});

it("hides secrets that are known, in any place", () => {
  expect(redactLog(`half of ${SECRET}/x is there`, [SECRET])).toBe("half of [redacted]/x is there");
  expect(redactLog("a b", ["", "a"])).toBe("a b");
});

it.each([
  '{"level":"info","time":"2026-11-28T02:10:15.000Z","camera":"door","msg":"source ended"}',
  "the hub https://hub.example.org:8443/x cannot be reached: connect ECONNREFUSED 10.0.0.1:443",
  "network: got 3 outputs, expected 1",
  "rtsp://cam.lan/stream: 404",
])("leaves %s", (line) => {
  expect(redactLog(line)).toBe(line);
});

it("keeps the last lines, within count and bytes, and no control characters", () => {
  const many = Array.from({ length: 2000 }, (_, i) => `line ${i}`).join("\n");
  const lines = cutLog(`${many}\n`).split("\n");
  expect([lines.length, lines.at(-1)]).toEqual([MOST_LOG_LINES, "line 1999"]);
  const wide = cutLog(Array.from({ length: 400 }, () => "ä".repeat(5000)).join("\n"));
  expect(Buffer.byteLength(wide)).toBeLessThanOrEqual(MOST_LOG_BYTES);
  expect(Buffer.byteLength(wide)).toBeGreaterThan(MOST_LOG_BYTES - 4100);
  expect(cutLog("a\0b\x1b[31m\u202e\tc")).toBe("a\ufffdb\ufffd[31m\ufffd\tc");
  expect(cutLog("")).toBe("");
});
