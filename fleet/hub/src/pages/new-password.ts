/** Checks new passwords for the pages. */
import { weaknessOf } from "../auth/strength.ts";
import { UserError } from "../core/errors.ts";
import { cleanPassword } from "../nouns/text.ts";

/**
 * Returns the password, or an error that says why it is refused. `words` are texts about the person, such as email and
 * teams.
 */
export async function tryPassword(text: string, words: readonly string[]): Promise<string | UserError> {
  try {
    const password = cleanPassword(text);
    const weakness = await weaknessOf(password, words);
    if (weakness === undefined) return password;
    return new UserError(`Choose another password: ${weakness}. Three or four unrelated words make a good one.`);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}
