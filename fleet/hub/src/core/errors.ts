/** The error of the pages: a user asked for something impossible. Not a bug of the hub. */
import { UserError as OperatorError } from "boxwright-service/errors";

export type UserStatus = 400 | 403 | 404 | 409 | 413 | 415 | 429 | 503;

/** Error: somebody asked for something impossible. They may see the message. */
export class UserError extends OperatorError {
  /** HTTP status of a page that answers with this error. */
  readonly status: UserStatus;
  /** The sentence for the person who uses the pages. The message itself is for operators: got and expected. */
  readonly shown: string;

  constructor(message: string, status: UserStatus = 400, shown: string = message) {
    super(message);
    this.status = status;
    this.shown = shown;
  }
}
