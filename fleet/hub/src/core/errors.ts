/** Error about an impossible request of a user. Such an error is not a bug of the hub. */
import { UserError as OperatorError } from "boxwright-service/errors";

export type UserStatus = 400 | 403 | 404 | 409 | 413 | 415 | 429 | 503;

/** Error for an impossible request of a user, who may see the message. */
export class UserError extends OperatorError {
  /** HTTP status of a page that answers with this error. */
  readonly status: UserStatus;
  /**
   * Sentence for the person who uses the pages. The error's `message` is for operators, and says what was found and
   * expected.
   */
  readonly shown: string;

  constructor(message: string, status: UserStatus = 400, shown: string = message) {
    super(message);
    this.status = status;
    this.shown = shown;
  }
}
