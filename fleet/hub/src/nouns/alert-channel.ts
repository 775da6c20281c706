/** Channels of a team. A channel is a webhook or an e-mail address that gets messages about alerts. */
import { randomBytes } from "node:crypto";
import type { Database, Queries } from "boxwright-service/database";
import { messageOf } from "boxwright-service/errors";
import { parseWebhookAddress } from "boxwright-service/webhook";
import { refuseInside } from "boxwright-service/public-address";
import type { Config } from "../core/config.ts";
import { UserError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { audit, type Change } from "./audit.ts";
import { checkRoom, noSuch } from "./rows.ts";
import { cleanEmail, cleanName } from "./text.ts";

const MAX_CHANNELS = 10;

export interface AlertChannel {
  readonly id: string;
  readonly team_id: string;
  readonly name: string;
  readonly kind: "webhook" | "email";
  /** URL of a webhook, or an e-mail address. */
  readonly address: string;
  readonly created_at: number;
  /** Reason why messages wait. Null while the receiver accepts messages. */
  readonly problem: string | null;
}

const COLUMNS = "id, team_id, name, kind, address, created_at, problem";

export interface ListedChannel extends AlertChannel {
  readonly waiting: number;
  readonly dropped: number;
}

export function listChannels(db: Queries, teamId: string): Promise<ListedChannel[]> {
  const count = (what: string): string =>
    `(SELECT count(*) FROM alert_messages m WHERE m.channel_id = alert_channels.id AND m.dropped_at IS ${what})`;
  return db.all<ListedChannel>(
    `SELECT ${COLUMNS}, ${count("NULL")} AS waiting, ${count("NOT NULL")} AS dropped FROM alert_channels WHERE team_id = ? ORDER BY id`,
    [teamId],
  );
}

/** Returns a channel, and the secret that signs the channel's messages. */
export async function findChannel(
  db: Queries,
  id: string,
): Promise<(AlertChannel & { readonly secret: string | null }) | undefined> {
  const [row] = await db.all<AlertChannel & { secret: string | null }>(
    `SELECT ${COLUMNS}, secret FROM alert_channels WHERE id = ?`,
    [id],
  );
  return row;
}

export async function needChannel(db: Queries, teamId: string, id: string): Promise<AlertChannel> {
  const channel = await findChannel(db, id);
  if (channel?.team_id === teamId) return channel;
  throw noSuch("alert channel", id);
}

/** Returns an address for pages and logs. Leaves out path and query of a webhook, which may hold a key. */
export const shownAddress = ({ kind, address }: Pick<AlertChannel, "kind" | "address">): string =>
  kind === "webhook" ? new URL(address).origin : address;

export interface NewChannel {
  readonly name: string;
  readonly webhook?: string | undefined;
  readonly email?: string | undefined;
}

type Limits = Pick<Config, "webhookAddresses" | "smtpUrl">;

/** Returns the kind and the address of a new channel. Throws a UserError if the address is wrong. */
function readAddress({ webhookAddresses, smtpUrl }: Limits, { webhook, email }: NewChannel): [string, string] {
  if ((webhook === undefined) === (email === undefined))
    throw new UserError("got both a webhook and an email or neither, expected one of them", 400, "Enter one address.");
  if (email !== undefined) {
    if (smtpUrl === undefined)
      throw new UserError(
        "email: got an address, expected none: this hub has no mail server (HUB_SMTP_URL)",
        409,
        "This hub sends no e-mail. Whoever runs it has to set HUB_SMTP_URL and HUB_MAIL_FROM.",
      );
    const address = cleanEmail(email);
    // Refuse characters with a meaning in mail headers, which could add a second receiver, a name or a comment.
    if (/[,;:<>()[\]\\"]/.test(address))
      throw new UserError(
        `email: got ${JSON.stringify(address.slice(0, 80))}, expected one plain address`,
        400,
        "Enter one email address like name@example.org.",
      );
    return ["email", address];
  }
  const bad = (why: string, hint = ""): UserError =>
    new UserError(`webhook: ${why}`, 400, `Enter an address like https://example.org/hook.${hint}`);
  let address: string;
  try {
    address = parseWebhookAddress(webhook);
  } catch (error) {
    throw bad(messageOf(error));
  }
  if (webhookAddresses === "any") return ["webhook", address];
  const { protocol, hostname } = new URL(address);
  const setting = " Whoever runs this hub may allow http and your own network: HUB_WEBHOOK_ADDRESSES=any.";
  if (protocol !== "https:") throw bad("got http, expected https: messages name devices", setting);
  try {
    refuseInside(hostname);
  } catch (error) {
    throw bad(messageOf(error), setting);
  }
  return ["webhook", address];
}

/** Makes a channel. The result holds the secret of a webhook, which no page shows again. */
export async function createChannel(
  db: Database,
  limits: Limits,
  { now, actor, teamId }: Change,
  given: NewChannel,
): Promise<{ readonly channel: AlertChannel; readonly secret: string | null }> {
  const [kind, address] = readAddress(limits, given) as [AlertChannel["kind"], string];
  const name = cleanName(given.name, "alert channel name");
  const channel: AlertChannel = {
    ...{ id: newId(now), team_id: teamId, name, kind, address },
    ...{ created_at: now, problem: null },
  };
  const secret = kind === "webhook" ? `whsec_${randomBytes(32).toString("base64")}` : null;
  await db.write(async (tx) => {
    await checkRoom(tx, "alert_channels", teamId, MAX_CHANNELS, "alert channel");
    await tx.all(
      "INSERT INTO alert_channels (id, team_id, name, kind, address, secret, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      [channel.id, teamId, name, kind, address, secret, actor, now],
    );
    await audit(tx, now, actor, "alert_channel.created", teamId, `${channel.id} ${name} ${shownAddress(channel)}`);
  });
  return { channel, secret };
}

/** Renames a channel. The address cannot change, since the secret and the queued messages belong to this address. */
export async function renameChannel(
  db: Database,
  { now, actor, teamId }: Change,
  id: string,
  nameText: string,
): Promise<AlertChannel> {
  const name = cleanName(nameText, "alert channel name");
  return db.write(async (tx) => {
    const channel = { ...(await needChannel(tx, teamId, id)), name };
    await tx.all("UPDATE alert_channels SET name = ? WHERE id = ?", [name, id]);
    await audit(tx, now, actor, "alert_channel.renamed", teamId, `${id} ${name} ${shownAddress(channel)}`);
    return channel;
  });
}

/**
 * Deletes a channel and its messages. Refuses while rules name the channel, since these rules would have no receiver.
 */
export async function deleteChannel(db: Database, { now, actor, teamId }: Change, id: string): Promise<AlertChannel> {
  return db.write(async (tx) => {
    const channel = await needChannel(tx, teamId, id);
    const rules = await tx.all<{ name: string }>("SELECT name FROM alert_rules WHERE team_id = ? AND channel_id = ?", [
      ...[teamId, id],
    ]);
    if (rules.length > 0)
      throw new UserError(
        `got a channel of ${rules.length === 1 ? "1 rule" : `${rules.length} rules`}, expected none: ${rules[0]!.name}`,
        409,
        `The rule ${rules[0]!.name} tells this channel alone. Delete the rule first.`,
      );
    await tx.all("DELETE FROM alert_messages WHERE channel_id = ?", [id]);
    await tx.all("DELETE FROM alert_channels WHERE id = ?", [id]);
    await audit(tx, now, actor, "alert_channel.deleted", teamId, `${id} ${channel.name} ${shownAddress(channel)}`);
    return channel;
  });
}

/** Queues dropped messages of a channel again. Returns the number of these messages. */
export async function resendDropped(db: Database, { teamId }: Change, id: string): Promise<number> {
  await needChannel(db, teamId, id);
  const rows = await db.write((tx) =>
    tx.all(
      "UPDATE alert_messages SET dropped_at = NULL, reason = NULL WHERE channel_id = ? AND dropped_at IS NOT NULL RETURNING 1 AS done",
      [id],
    ),
  );
  return rows.length;
}
