/**
 * Rules for names, emails, passwords and numbers. Functions for texts return the cleaned text. Each function throws an
 * error that says what it got and what it expected.
 */
import { UserError } from "../core/errors.ts";

const MAX_NAME = 100;
/** Control characters, line breaks, and marks that change the direction of the surrounding text. */
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|\p{Surrogate}/u;

/**
 * A visible character. Joiners and fillers are part of words and emoji, but a name of nothing else would be invisible.
 */
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Separator}\p{Other}]/u;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/u;

export function cleanName(text: string, what: string): string {
  const name = text.normalize("NFC").trim();
  const refuse = (message: string, shown: string): never => {
    throw new UserError(`${what}: ${message}`, 400, shown);
  };
  if (name.length === 0 || name.length > MAX_NAME) {
    const enter = `Enter a name of 1 to ${MAX_NAME} characters`;
    const shown = name.length === 0 ? `${enter}.` : `${enter}. This one has ${name.length}.`;
    refuse(`got ${name.length} characters, expected 1 to ${MAX_NAME}`, shown);
  }
  if (UNPRINTABLE.test(name))
    refuse(
      "got a control character, expected printable text",
      "Enter a name without line breaks and control characters.",
    );
  if (!VISIBLE.test(name))
    refuse("got nothing that can be seen, expected printable text", "Enter a name that can be seen.");
  return name;
}

/** Checks an email. Refuses invisible characters, so that two addresses that look the same are equal. */
export function cleanEmail(text: string): string {
  const email = text.normalize("NFC").trim().toLowerCase();
  if (email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email) || UNPRINTABLE.test(email) || IGNORABLE.test(email)) {
    throw new UserError(
      `email: got ${JSON.stringify(text.slice(0, 80))}, expected an address like name@example.org`,
      400,
      "Enter an email address like name@example.org.",
    );
  }
  return email;
}

const DEVICE_ID = /^[0-9A-Za-z][0-9A-Za-z._:-]{0,63}$/;

export function isDeviceId(text: string): boolean {
  return DEVICE_ID.test(text);
}

export function cleanDeviceId(text: string): string {
  if (!isDeviceId(text)) {
    throw new UserError(
      `device id: got ${JSON.stringify(text.slice(0, 80))}, expected 1 to 64 of letters, digits and . _ : -, the first a letter or digit`,
    );
  }
  return text;
}

export const MIN_PASSWORD = 10;
export const MAX_PASSWORD = 200;

export function cleanPassword(text: string): string {
  const password = text.normalize("NFKC");
  if (password.length < MIN_PASSWORD || password.length > MAX_PASSWORD) {
    throw new UserError(
      `password: got ${password.length} characters, expected ${MIN_PASSWORD} to ${MAX_PASSWORD}`,
      400,
      `Enter a password of ${MIN_PASSWORD} to ${MAX_PASSWORD} characters.`,
    );
  }
  return password;
}

/** Throws unless a number that a person entered is whole and within its limits. Undefined passes. */
export function checkWhole(value: number | undefined, least: number, most: number, what: string): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most)) return;
  const expected = `expected a whole number from ${least} to ${most}`;
  const shown = `Enter a whole number of ${what} from ${least} to ${most}.`;
  throw new UserError(`${what}: got ${value}, ${expected}`, 400, shown);
}
