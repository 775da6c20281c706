/** Counts the values of one answer, and fails the query if the answer has too many. */
import { MAX_VALUES } from "../core/answer.ts";
import { queryError } from "./errors.ts";

export class Values {
  /** Number of fields in the document. */
  fields = 0;
  /** Largest number of values that the rows read so far may have. */
  total = 0;

  /** Adds the values of `rows` rows: an upper bound, since a row may have fewer values than the query has fields. */
  count(rows: number): void {
    this.total += rows * this.fields;
    this.check();
  }

  /** @throws GraphQLError if the answer is too large already */
  check(): void {
    if (this.total <= MAX_VALUES) return;
    const message = `Answer too large: got ${this.total} values (devices x fields of the query), expected at most ${MAX_VALUES}; ask for pages with \`first\` and \`after\`.`;
    throw queryError("answer_too_large", message);
  }
}
