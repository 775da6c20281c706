/** Reads the settings of webhooks, which are external addresses that receive detections. */
import { readFileSync } from "node:fs";
import { by, isObject, sentenceOf, show, showSetting, text } from "boxwright-service/schema/json";
import { type Option, number, readOptions, texts } from "boxwright-service/schema/options";
import * as v from "valibot";
import { parseWebhookAddress, parseWebhookSecret } from "boxwright-service/webhook";

export interface Webhook {
  /**
   * Name of the webhook's queue, which stays the same if the address changes. Undefined: the address is the queue's
   * name.
   */
  readonly name: string | undefined;
  readonly url: string;
  /** Key that signs the messages. */
  readonly key: Buffer;
  readonly source: string | undefined;
  readonly subject: string | undefined;
  /** Labels of the detections to send; undefined for all. */
  readonly labels: readonly string[] | undefined;
  readonly minConfidence: number;
  /** Smallest number of seconds between two messages about a camera. */
  readonly every: number;
}

const keyInFile = (given: unknown): Buffer =>
  parseWebhookSecret(readFileSync(v.parse(text("the path of a file"), given), "utf8"));

const options: Readonly<Record<string, Option>> = {
  name: { schema: text("a name"), about: "" },
  url: { schema: by(parseWebhookAddress), about: "" },
  secret: { schema: by(parseWebhookSecret), about: "" },
  secretFile: { schema: by(keyInFile), about: "" },
  source: { schema: text("the name of a device"), about: "" },
  subject: { schema: text("the name of a camera"), about: "" },
  labels: { schema: texts(text("a label")), about: "" },
  minConfidence: { schema: number(0, 1, false), fallback: 0, about: "" },
  every: { schema: number(0, 86_400, false), fallback: 0, about: "" },
};

/** Parses one webhook of the config file. */
export function webhook(given: unknown): Webhook {
  if (!isObject(given))
    throw new Error(
      `got ${showSetting(given, 40)}, expected objects like {"url": ..., "secret": ...} in the config file`,
    );
  const { values, problems } = readOptions(options, given, {});
  const { secret, secretFile, ...rest } = values;
  const hasProblem = (name: string): boolean => problems.some((problem) => problem.startsWith(`${name}: `));
  if (rest["url"] === undefined && !hasProblem("url")) problems.push("url: got none, expected an address");
  if ((secret === undefined) === (secretFile === undefined) && !hasProblem("secret") && !hasProblem("secretFile"))
    problems.push(`got ${secret ? "both secret and" : "neither secret nor"} secretFile, expected one of them`);
  if (problems.length > 0) throw new Error(problems.join("; "));
  return { ...rest, key: secret ?? secretFile } as Webhook;
}

/** Parses the webhooks of the config file. */
export function webhooks(given: unknown): Webhook[] {
  const { output: all, issues, success } = v.safeParse(texts(by(webhook)), given, { abortEarly: true });
  if (!success) throw new Error(sentenceOf(issues[0], showSetting));
  const repeated = all.find(({ name }, i) => all.some((other, j) => i !== j && (other.name ?? other.url) === name));
  // Refuse a repeated name: only the order of the webhooks would distinguish their queues. After a change of order, a
  // receiver could get another receiver's messages.
  if (repeated) throw new Error(`got two webhooks with the name ${show(repeated.name)}, expected a name for each`);
  return all;
}
