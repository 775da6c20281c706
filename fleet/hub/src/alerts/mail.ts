/** Sends one message about alerts by e-mail. */
import type { Attempt, AttemptOptions, Message } from "boxwright-service/delivery";
import { messageOf } from "boxwright-service/errors";
import { attemptInTime } from "boxwright-service/patience";
import { oneLine, textOf, type AlertMessage } from "./words.ts";

export interface MailServer {
  readonly url: string;
  /** E-mail address of the sender. */
  readonly from: string;
}

const MAX_SUBJECT = 200;

/**
 * Sends a message to the mail server once. A final refusal of the server (5xx) counts as a failure to retry, since the
 * server may be configured wrongly. All tries send the same Message-ID, so that a mailbox shows the message once.
 */
export async function sendMail(
  { url, from }: MailServer,
  to: string,
  { id, body }: Message,
  options: AttemptOptions,
): Promise<Attempt> {
  // Load the mail library with the first mail: loading takes 30 ms of CPU, and most hubs send no mail.
  const { createTransport } = await import("nodemailer");
  const message = JSON.parse(body) as AlertMessage;
  const attempt = async (signal: AbortSignal): Promise<Attempt> => {
    await createTransport({ url, disableFileAccess: true, disableUrlAccess: true }).sendMail({
      signal,
      from: { name: "boxwright hub", address: from },
      to: { name: "", address: to },
      envelope: { from, to: [to] },
      subject: oneLine(message.data.title).slice(0, MAX_SUBJECT),
      text: textOf(message),
      messageId: `<${id}@${from.split("@")[1]}>`,
      // Ask mail programs not to send automatic answers (RFC 3834).
      headers: { "Auto-Submitted": "auto-generated" },
    });
    return "sent";
  };
  return attemptInTime(options, attempt, (error) => oneLine(messageOf(error)).slice(0, 300));
}
