/** Messages about alerts on their way: signed webhooks, a real mail server, receivers that are away, hostile names. */
import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { until } from "boxwright-service/testing/wait";
import { queueTest } from "../../src/alerts/tell.ts";
import { createChannel, deleteChannel, listChannels } from "../../src/nouns/alert-channel.ts";
import { onEmptyDatabases } from "../support/hub.ts";
import { mailReceiver, webReceiver } from "../support/receiver.ts";
import { MINUTE, watchedTeam } from "../support/watched-team.ts";

onEmptyDatabases("messages about alerts", (db, storage) => {
  it("go to webhooks by Standard Webhooks, and to mailboxes", async () => {
    const [web, mail] = [await webReceiver(), await mailReceiver()];
    const site = await watchedTeam(storage(), { HUB_SMTP_URL: mail.url, HUB_MAIL_FROM: "hub@example.org" });
    await site.devices(["a", "b"]);
    const { secret } = await site.channel({ webhook: web.url });
    await site.channel({ email: "night@example.org" });
    await site.rule({ kind: "version_failed", name: "versions" });
    await site.set(["a", "b"], { application_state: "failed" });
    await site.pass(MINUTE);
    site.start();
    await until(() => web.got.length === 1 && mail.got.length === 1, "both messages");
    const { headers, body } = web.got[0]!;
    const key = Buffer.from(secret!.replace("whsec_", ""), "base64");
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
    expect(headers["webhook-signature"]).toBe(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
    expect(JSON.parse(body)).toMatchObject({ type: "alert.began", data: { count: 2, rule: { name: "versions" } } });
    expect(mail.got[0]).toMatchObject({ from: "hub@example.org", to: ["night@example.org"] });
    expect(mail.got[0]!.text).toContain("Subject: 2 devices cannot run their version\r\n");
    expect(mail.got[0]!.text).toContain("- Camera a, since 20");
    expect(mail.got[0]!.text).toContain("Auto-Submitted: auto-generated\r\n");
    await until(async () => (await site.queued()).length === 0, "an empty queue");
  });

  it.each([
    "Gate\r\nBcc: victim@example.org",
    "Gate\nContent-Type: text/html\n\n<script>",
    "Gate\u2028Bcc: victim@example.org",
    "Gate\u0085Bcc: victim@example.org",
    `${"x".repeat(2000)}\r\nBcc: victim@example.org`,
    "=?utf-8?q?Gate=0D=0ABcc:_victim@example.org?=",
    "Gate\0\b\u001b[2J",
  ])("a device called %j puts no header into a mail", async (name) => {
    const mail = await mailReceiver();
    const site = await watchedTeam(storage(), { HUB_SMTP_URL: mail.url, HUB_MAIL_FROM: "hub@example.org" });
    // Past the check of names, as a row of another origin would be.
    const inDatabase = storage().kind === "postgres" ? name.replaceAll("\0", "") : name;
    await site.devices(["a"], () => inDatabase);
    await site.channel({ email: "night@example.org" });
    await site.rule({ kind: "version_failed", name: "versions" });
    await site.set(["a"], { application_state: "failed" });
    await site.pass(MINUTE);
    site.start();
    await until(() => mail.got.length === 1, "the mail");
    const [{ to, text }] = mail.got as [(typeof mail.got)[0]];
    expect(to).toEqual(["night@example.org"]);
    const [head = ""] = text.split("\r\n\r\n");
    const headers = head.replace(/\r\n[ \t]+/g, " ").split("\r\n");
    expect(headers.map((line) => line.split(":")[0]!.toLowerCase()).sort()).toEqual(
      [
        "auto-submitted",
        "content-transfer-encoding",
        "content-type",
        "date",
        "from",
        "message-id",
        "mime-version",
      ].concat(["subject", "to"]),
    );
    expect(head).not.toMatch(/^(bcc|content-type: text\/html)/im);
  });

  it("wait while the receiver is away, across restarts of the hub, and say so", async () => {
    let isAway = true;
    const web = await webReceiver(() => (isAway ? 503 : 204));
    let refusal: string | undefined = "mailbox is busy";
    const mail = await mailReceiver(() => refusal);
    const site = await watchedTeam(storage(), { HUB_SMTP_URL: mail.url, HUB_MAIL_FROM: "hub@example.org" });
    await site.devices(["a"]);
    await site.channel({ webhook: web.url, name: "web" });
    await site.channel({ email: "night@example.org", name: "mail" });
    await site.rule({ kind: "version_failed" });
    await site.set(["a"], { application_state: "failed" });
    await site.pass(MINUTE);
    site.start();
    const problems = async () => (await listChannels(db(), site.team.id)).map(({ problem }) => problem);
    await until(async () => (await problems()).every((problem) => problem !== null), "both problems");
    expect(await problems()).toEqual(["status 503", expect.stringContaining("mailbox is busy")]);
    await site.restart();
    site.start();
    isAway = false;
    refusal = undefined;
    await until(() => web.got.length === 1 && mail.got.length === 1, "both messages");
    await until(async () => (await problems()).every((problem) => problem === null), "no problem");
    expect(site.logs()).not.toMatch(/hidden|secret/);
  });

  it("go nowhere inside the hub's own network, unless its operator says so", async () => {
    const site = await watchedTeam(storage());
    const { webhookAddresses, smtpUrl } = { webhookAddresses: "public", smtpUrl: undefined } as const;
    const make = (webhook: string) =>
      createChannel(db(), { webhookAddresses, smtpUrl }, site.change(), { name: "x", webhook });
    for (const url of [
      ...["http://example.org/", "https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/latest"],
      ...["https://2130706433/", "https://user:pw@example.org/", "file:///etc/passwd", "javascript:alert(1)", ""],
    ])
      await expect(make(url)).rejects.toThrow(/^webhook: /);
    await make("https://example.org/hook");
    // A name that resolves to an address inside is found out while connecting.
    const web = await webReceiver();
    const inside = await watchedTeam(storage(), { HUB_WEBHOOK_ADDRESSES: "public" });
    const url = web.url.replace("127.0.0.1", "localhost");
    const any = { webhookAddresses: "any", smtpUrl } as const;
    const { channel } = await createChannel(db(), any, inside.change(), { name: "x", webhook: url });
    await queueTest(db(), "http://hub", inside.now(), { team: inside.team, channelId: channel.id });
    inside.start();
    await until(async () => (await listChannels(db(), inside.team.id))[0]!.problem !== null, "the problem");
    expect((await listChannels(db(), inside.team.id))[0]!.problem).toContain("is no public address");
    expect(web.got).toEqual([]);
  });

  it("need a mail server and one plain address; a channel that a rule names alone stays", async () => {
    const plain = await watchedTeam(storage());
    await expect(plain.channel({ email: "a@example.org" })).rejects.toThrow("this hub has no mail server");
    const site = await watchedTeam(storage(), { HUB_SMTP_URL: "smtp://127.0.0.1:9", HUB_MAIL_FROM: "hub@example.org" });
    for (const email of ["a@example.org,b@example.org", "a@example.org; b", "<a@example.org", "a\r\nBcc:x@example.org"])
      await expect(site.channel({ email })).rejects.toThrow(/^email: /);
    await expect(site.channel({})).rejects.toThrow("expected one of them");
    const { channel } = await site.channel({ email: "a@example.org" });
    const { id } = await site.rule({ kind: "version_failed", channelId: channel.id });
    await expect(deleteChannel(db(), site.change(), channel.id)).rejects.toThrow("a channel of 1 rule,");
    expect(id).not.toBe("");
    // Another team has no such channel.
    const other = await watchedTeam(storage());
    await expect(other.rule({ kind: "version_failed", channelId: channel.id })).rejects.toThrow(
      "expected one of the team",
    );
    await expect(deleteChannel(db(), other.change(), channel.id)).rejects.toThrow("expected one of the team");
  });
});
