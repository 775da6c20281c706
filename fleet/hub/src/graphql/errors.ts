/** Codes of errors in the query itself. Codes of refused requests are in http/refusals.ts, in the same style. */
import { GraphQLError } from "graphql";

export const queryCodes = {
  syntax_error: "the text of the query is not GraphQL",
  invalid_query: "the query does not fit the schema, is a subscription, or has no operation of that name",
  invalid_input: "a variable or an argument does not fit",
  query_too_large: "the query is over a limit of a document",
  answer_too_large: "the answer would have too many values",
  missing_scope: "the key has no scope for a field of the query",
} as const satisfies Record<string, string>;

export type QueryCode = keyof typeof queryCodes;

export function queryError(code: QueryCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

/** Adds a code to an error of graphql-js, unless the error has a code. */
export function withCode(error: GraphQLError, code: QueryCode): GraphQLError {
  error.extensions["code"] ??= code;
  return error;
}
