/** Counts the values of one answer, and fails the query if there are too many. */
import { MAX_VALUES } from "../core/answer.ts";
import { queryError } from "./errors.ts";

export class Values {
  /** Number of fields in the document. */
  fields = 0;
  /** Number of values in the rows that were read. */
  total = 0;

  /** Counts rows. Each may have as many values as the query has fields. */
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
