/** GraphQL over HTTP (graphql-http) around the schema: from a body to status and answer. Knows no sockets. */
import { readFileSync } from "node:fs";
import { buildSchema, getOperationAST, GraphQLError, Kind, type ExecutionResult } from "graphql";
import { createHandler, type Handler, type RequestParams, type Response } from "graphql-http";
import { UnavailableError } from "boxwright-service/errors";
import { isObject } from "boxwright-service/options";
import { refusalBody, refusals } from "../http/refusals.ts";
import { Documents } from "./documents.ts";
import { queryError, withCode } from "./errors.ts";
import { root, type TeamContext } from "./team.ts";

const schemaText = readFileSync(new URL("../../schema.graphql", import.meta.url), "utf8");

/** One request to execute. */
export type Operation = TeamContext & {
  readonly requestId: string;
  readonly onInternalError: (error: unknown) => void;
  /** Requests that the document costs on top of an ordinary one. The caller charges them. */
  cost: number;
};

/** Travels with a request through graphql-http. */
interface Around {
  readonly operation: Operation;
}

export interface Protocol {
  readonly handle: Handler<undefined, Around>;
  readonly documents: Documents;
}

export function createProtocol(): Protocol {
  const schema = buildSchema(schemaText);
  const documents = new Documents(schema);
  const handle = createHandler<undefined, Around, Operation>({
    rootValue: root,
    context: (request) => request.context.operation,
    parseRequestParams: ({ body }) => readParams(body as string),
    onSubscribe(request, { query, operationName, variables }) {
      const entry = documents.get(query);
      const { operation } = request.context;
      operation.cost = entry.cost;
      if (entry.errors !== undefined) return entry.errors;
      if (getOperationAST(entry.document, operationName) == null) {
        const names = entry.document.definitions.flatMap((node) =>
          node.kind === Kind.OPERATION_DEFINITION ? [node.name?.value ?? "(none)"] : [],
        );
        const got = JSON.stringify(operationName?.slice(0, 80) ?? null);
        const expected = `expected the name of one operation of the query: ${names.join(", ")}`;
        return [queryError("invalid_query", `operationName: got ${got}, ${expected}`)];
      }
      operation.devices.fields = entry.fields;
      return {
        schema,
        document: entry.document,
        operationName: operationName ?? null,
        variableValues: variables ?? null,
      };
    },
    // Stringify here: graphql-http would do it with a replacer, which calls back for every value.
    onOperation(request, _args, { errors, data }) {
      const newMediaType = wantsNewMediaType(request.headers);
      if (errors === undefined) return answer(200, newMediaType, JSON.stringify({ data }));
      return answerErrors(request.context.operation, errors, data, newMediaType);
    },
  });
  return { handle, documents };
}

/** Checks the shape of a body. graphql-http would check it too, without a code and without what was expected. */
function readParams(body: string): RequestParams | Response {
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch {
    return badBody("got text that is not JSON, expected a JSON object with `query`");
  }
  if (!isObject(given)) return badBody("got JSON that is no object, expected a JSON object with `query`");
  const { query, operationName, variables, extensions } = given;
  if (typeof query !== "string")
    return badBody(`query: got ${query === undefined ? "none" : typeof query}, expected a text`);
  if (operationName != null && typeof operationName !== "string")
    return badBody(`operationName: got ${typeof operationName}, expected a text`);
  if (variables != null && !isObject(variables)) return badBody("variables: got no object, expected a JSON object");
  if (extensions != null && !isObject(extensions)) return badBody("extensions: got no object, expected a JSON object");
  return { query, operationName, variables, extensions };
}

function badBody(detail: string): Response {
  return answer(refusals.invalid_body[0], false, refusalBody("invalid_body", `: ${detail}`));
}

function wantsNewMediaType(headers: object): boolean {
  const accept = (headers as Record<string, string | undefined>)["accept"] ?? "";
  const at = accept.indexOf("application/graphql-response+json");
  const old = accept.search(/application\/(json|\*)|\*\/\*/);
  return at >= 0 && (old < 0 || at < old);
}

/** Shows errors of the query as they are. Logs errors of the hub, and shows a request id and nothing else of them. */
function answerErrors(
  operation: Operation,
  errors: readonly GraphQLError[],
  data: ExecutionResult["data"],
  newMediaType: boolean,
): Response {
  let away = false;
  let broken = false;
  const shown = errors.map((error) => {
    const cause = error.originalError;
    // An error without a code is one of graphql-js, about a variable.
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
  // Without `data` nothing was executed, for example because a variable did not fit. The new media type calls this a
  // bad request.
  const status = broken ? 500 : away ? 503 : data === undefined && newMediaType ? 400 : 200;
  return answer(
    status,
    newMediaType,
    JSON.stringify(data === undefined ? { errors: shown } : { errors: shown, data }),
    away ? { "retry-after": "1" } : {},
  );
}

function answer(status: number, newMediaType: boolean, body: string, headers: Record<string, string> = {}): Response {
  return [
    body,
    {
      status,
      statusText: "",
      headers: {
        "content-type": `application/${newMediaType ? "graphql-response+json" : "json"}; charset=utf-8`,
        ...headers,
      },
    },
  ];
}
