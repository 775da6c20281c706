/** Changes that somebody asked for with a form. */
import { UserError } from "../core/errors.ts";
import type { Answer } from "./answer.tsx";

/** Runs a change. An error that the user can put right is shown on the page that the form came from. */
export async function attempt(
  change: () => Promise<Answer>,
  failed: (problem: UserError) => Answer | Promise<Answer>,
): Promise<Answer> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof UserError) return failed(error);
    throw error;
  }
}
