/** GraphQL over HTTP: turns a body into a status and an answer. This file uses no sockets. */
import { readFileSync } from "node:fs";
import { buildSchema, execute, getOperationAST, GraphQLError, Kind, OperationTypeNode } from "graphql";
import type { DocumentNode, ExecutionResult } from "graphql";
import { UnavailableError } from "boxwright-service/errors";
import { isObject } from "boxwright-service/schema/json";
import { refusalBody, refusals } from "../http/refusals.ts";
import { Documents } from "./documents.ts";
import { queryError, withCode } from "./errors.ts";
import type { TeamContext } from "./context.ts";
import { root } from "./team.ts";

const NEW_TYPE = "application/graphql-response+json";
const OLD_TYPE = "application/json";
const schemaText = readFileSync(new URL("../../schema.graphql", import.meta.url), "utf8");

/** One request to execute, with the data that its resolvers use. */
export interface Operation extends TeamContext {
  readonly requestId: string;
  readonly onInternalError: (error: unknown) => void;
  /** Number of additional requests that this request counts as, for its API key and its address. */
  cost: number;
}

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers: Record<string, string>;
}

export interface Protocol {
  /** Answers a body, or returns undefined if `accept` allows none of the hub's media types. */
  readonly handle: (body: string, accept: string | undefined, operation: Operation) => Promise<Reply | undefined>;
  readonly documents: Documents;
}

export function createProtocol(): Protocol {
  const schema = buildSchema(schemaText);
  const documents = new Documents(schema);
  return {
    documents,
    async handle(body, accept, operation) {
      const type = mediaTypeFor(accept);
      if (type === undefined) return undefined;
      const params = readParams(body);
      if (typeof params === "string") return badBody(params);
      const { query, operationName, variables } = params;
      const entry = documents.get(query);
      operation.cost = entry.cost;
      const refuse = (errors: readonly GraphQLError[]): Reply =>
        answer(type === NEW_TYPE ? 400 : 200, type, { errors });
      if (entry.errors !== undefined) return refuse(entry.errors);
      const asked = getOperationAST(entry.document, operationName);
      if (asked == null) return refuse([wrongName(entry.document, operationName)]);
      operation.values.fields = entry.fields;
      const { errors, data } = await execute({
        schema,
        document: entry.document,
        rootValue: asked.operation === OperationTypeNode.MUTATION ? root.mutation : root.query,
        contextValue: operation,
        operationName,
        variableValues: variables,
      });
      return errors === undefined ? answer(200, type, { data }) : answerErrors(operation, errors, data, type);
    },
  };
}

/** Returns the first of the hub's media types that the client accepts. Ignores weights. */
function mediaTypeFor(accept: string | undefined): string | undefined {
  for (const part of (accept || "*/*").toLowerCase().replace(/\s/g, "").split(",")) {
    const [type, ...params] = part.split(";");
    const charset = params.find((param) => param.startsWith("charset="));
    if (charset !== undefined && !/^charset=utf-?8$/.test(charset)) continue;
    if (type === NEW_TYPE) return NEW_TYPE;
    if (type === OLD_TYPE || type === "application/*" || type === "*/*") return OLD_TYPE;
  }
  return undefined;
}

/** Returns the error for an operation name that no operation of the document has, or that is needed but missing. */
function wrongName(document: DocumentNode, operationName: string | null): GraphQLError {
  const names = document.definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION ? [node.name?.value ?? "(none)"] : [],
  );
  const got = JSON.stringify(operationName?.slice(0, 80) ?? null);
  const expected = `expected the name of one operation of the query: ${names.join(", ")}`;
  return queryError("invalid_query", `operationName: got ${got}, ${expected}`);
}

interface Params {
  readonly query: string;
  readonly operationName: string | null;
  readonly variables: Record<string, unknown> | null;
}

/** Parses a body, or returns a text that says what is wrong. */
function readParams(body: string): Params | string {
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch {
    return "got text that is not JSON, expected a JSON object with `query`";
  }
  if (!isObject(given)) return "got JSON that is no object, expected a JSON object with `query`";
  const { query, operationName = null, variables = null, extensions } = given;
  if (typeof query !== "string") return `query: got ${query === undefined ? "none" : typeof query}, expected a text`;
  if (operationName !== null && typeof operationName !== "string")
    return `operationName: got ${typeof operationName}, expected a text`;
  if (variables !== null && !isObject(variables)) return "variables: got no object, expected a JSON object";
  if (extensions != null && !isObject(extensions)) return "extensions: got no object, expected a JSON object";
  return { query, operationName, variables };
}

function badBody(detail: string): Reply {
  const { [0]: status } = refusals.invalid_body;
  return { status, type: `${OLD_TYPE}; charset=utf-8`, body: refusalBody("invalid_body", `: ${detail}`), headers: {} };
}

/**
 * Returns errors of the query to the caller. Logs errors of the hub itself, for which the caller gets only a request
 * id.
 */
function answerErrors(
  operation: Operation,
  errors: readonly GraphQLError[],
  data: ExecutionResult["data"],
  type: string,
): Reply {
  let away = false;
  let broken = false;
  const shown = errors.map((error) => {
    const cause = error.originalError;
    // An error without a code comes from graphql-js, and is about a variable.
    if (cause === undefined || cause instanceof GraphQLError) return withCode(error, "invalid_input");
    operation.onInternalError(cause);
    const unavailable = cause instanceof UnavailableError;
    away ||= unavailable;
    broken ||= !unavailable;
    const [, sentence] = refusals[unavailable ? "unavailable" : "internal"];
    return new GraphQLError(`${sentence} (request ${operation.requestId})`, {
      nodes: error.nodes ?? null,
      path: error.path ?? null,
      extensions: { code: unavailable ? "unavailable" : "internal", requestId: operation.requestId },
    });
  });
  // Without `data`, nothing was executed, for example because a variable has the wrong type. The media type
  // application/graphql-response+json then requires status 400.
  const status = broken ? 500 : away ? 503 : data === undefined && type === NEW_TYPE ? 400 : 200;
  return answer(status, type, { errors: shown, data }, away ? { "retry-after": "1" } : {});
}

function answer(status: number, type: string, body: object, headers: Record<string, string> = {}): Reply {
  return { status, type: `${type}; charset=utf-8`, body: JSON.stringify(body), headers };
}
