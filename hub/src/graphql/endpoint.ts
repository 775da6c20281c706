/** The endpoint's inside: schema, resolvers, and the protocol (graphql-http) around them. Knows no sockets. */
import { readFileSync } from "node:fs";
import { buildSchema, getOperationAST, GraphQLError, Kind, type ExecutionResult } from "graphql";
import { createHandler, type Handler, type RequestParams, type Response } from "graphql-http";
import type { Queries } from "../database/database.ts";
import { Documents } from "./documents.ts";
import { refusalBody, refusals, UnavailableError } from "../core/errors.ts";
import { isObject } from "../core/json.ts";
import { listDevices, type Device } from "../nouns/device.ts";
import { isDeviceId } from "../nouns/text.ts";

export const schemaText = readFileSync(new URL("../../schema.graphql", import.meta.url), "utf8");

/**
 * Devices in an answer times fields in the document: what one request may cost to execute. 5,000 devices with 20
 * fields; without it, 20 aliases would multiply a long list by 20.
 */
export const MAX_VALUES = 100_000;
/** An answer that has to be made costs one request more for every so many values: about the time of ten ordinary ones. */
export const VALUES_A_REQUEST = 1000;

// A type and not an interface: graphql-http wants an index signature, which only types get implied.

export type Context = {
  readonly db: Queries;
  readonly team: { readonly id: string; readonly name: string };
  readonly onInternalError: (error: unknown) => void;
  readonly requestId: string;
  /** What the document cost beyond an ordinary request, for the caller to charge. */
  cost: number;
  fields: number;
  values: number;
  /** The pages read so far, by their arguments: aliases of one page share one query. */
  readonly pages: Map<string, Connection>;
  /** Settles when every page asked for so far has been read and counted. */
  turn: Promise<unknown>;
};

interface Connection {
  readonly nodes: readonly Device[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

const encodeCursor = (id: string): string => Buffer.from(id).toString("base64url");

function decodeCursor(cursor: string): string {
  const id = Buffer.from(cursor, "base64url").toString();
  if (!isDeviceId(id) || encodeCursor(id) !== cursor)
    throw refuse(`after: got ${JSON.stringify(cursor.slice(0, 80))}, expected an endCursor of an earlier answer`);
  return id;
}

const refuse = (message: string, code = "BAD_USER_INPUT"): GraphQLError => new GraphQLError(message, { extensions: { code } });

interface PageArguments {
  readonly first?: number | null;
  readonly after?: string | null;
}

/** Reads one page after another, so that the page that makes the answer too large is the last one read. */
function devices(args: PageArguments, context: Context): Promise<Connection> {
  const page = context.turn.then(() => readCounted(args, context));
  context.turn = page.catch(() => undefined);
  return page;
}

async function readCounted({ first, after }: PageArguments, context: Context): Promise<Connection> {
  if (context.values > MAX_VALUES) throw tooMany(context);
  const name = `${first ?? ""} ${after ?? ""}`;
  let page = context.pages.get(name);
  if (page === undefined) context.pages.set(name, (page = await readPage(context, first ?? undefined, after ?? undefined)));
  context.values += page.nodes.length * context.fields;
  if (context.values > MAX_VALUES) throw tooMany(context);
  return page;
}

async function readPage(context: Context, first: number | undefined, after: string | undefined): Promise<Connection> {
  if (first !== undefined && first < 1) throw refuse(`first: got ${first}, expected at least 1`);
  const start = after === undefined ? "" : decodeCursor(after);
  // One more than asked for tells whether there is more.
  const rows = await listDevices(context.db, context.team.id, start, first === undefined ? undefined : first + 1);
  const hasNextPage = first !== undefined && rows.length > first;
  const nodes = hasNextPage ? rows.slice(0, first) : rows;
  const last = nodes.at(-1);
  return { nodes, pageInfo: { hasNextPage, endCursor: last === undefined ? null : encodeCursor(last.id) } };
}

function tooMany(context: Context): GraphQLError {
  return refuse(
    `Answer too large: got ${context.values} values (devices x fields of the query), expected at most ${MAX_VALUES}; ask for pages with \`first\` and \`after\`.`,
    "ANSWER_TOO_LARGE",
  );
}

const root = {
  team: (_: unknown, context: Context) => ({
    id: context.team.id,
    name: context.team.name,
    devices,
  }),
};

/** What the adapter hands along with a request. */
interface Around {
  readonly operation: Context;
}

export interface Endpoint {
  readonly handle: Handler<undefined, Around>;
  readonly documents: Documents;
}

export function createEndpoint(): Endpoint {
  const schema = buildSchema(schemaText);
  const documents = new Documents(schema);
  const handle = createHandler<undefined, Around, Context>({
    rootValue: root,
    context: (request) => request.context.operation,
    parseRequestParams: ({ body }) => readParams(body as string),
    onSubscribe(request, { query, operationName, variables }) {
      const entry = documents.get(query);
      const context = request.context.operation;
      context.cost = entry.cost;
      if (entry.errors !== undefined) return entry.errors;
      if (getOperationAST(entry.document, operationName) == null) {
        const names = entry.document.definitions.flatMap((node) => (node.kind === Kind.OPERATION_DEFINITION ? [node.name?.value ?? "(none)"] : []));
        const got = JSON.stringify(operationName?.slice(0, 80) ?? null);
        return [refuse(`operationName: got ${got}, expected the name of one operation of the query: ${names.join(", ")}`)];
      }
      context.fields = entry.fields;
      return { schema, document: entry.document, operationName: operationName ?? null, variableValues: variables ?? null };
    },
    onOperation(request, _args, result) {
      // A result that comes in pieces would be of a subscription, which the schema does not have.
      const { errors, data } = result;
      // graphql-http would stringify with a replacer, which calls back for every value.
      if (errors === undefined) return answer(200, wantsNewMediaType(request.headers), JSON.stringify({ data }));
      return answerErrors(request.context.operation, errors, data, wantsNewMediaType(request.headers));
    },
  });
  return { handle, documents };
}

/** What a body must look like. graphql-http would judge it too, but its sentences have no code and say not what was expected. */
function readParams(body: string): RequestParams | Response {
  let given: unknown;
  try {
    given = JSON.parse(body);
  } catch {
    return badBody("got text that is not JSON, expected a JSON object with `query`");
  }
  if (!isObject(given)) return badBody("got JSON that is no object, expected a JSON object with `query`");
  const { query, operationName, variables, extensions } = given;
  if (typeof query !== "string") return badBody(`query: got ${query === undefined ? "none" : typeof query}, expected a text`);
  if (operationName != null && typeof operationName !== "string") return badBody(`operationName: got ${typeof operationName}, expected a text`);
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

/** Errors of the query are shown as they are. Errors of the hub are logged, and shown as a request id and nothing else. */
function answerErrors(context: Context, errors: readonly GraphQLError[], data: ExecutionResult["data"], newMediaType: boolean): Response {
  let away = false;
  let broken = false;
  const shown = errors.map((error) => {
    const cause = error.originalError;
    if (cause === undefined || cause instanceof GraphQLError) return error;
    context.onInternalError(cause);
    const unavailable = cause instanceof UnavailableError;
    away ||= unavailable;
    broken ||= !unavailable;
    const [, sentence] = refusals[unavailable ? "unavailable" : "internal"];
    return new GraphQLError(`${sentence} (request ${context.requestId})`, {
      nodes: error.nodes ?? null,
      path: error.path ?? null,
      extensions: { code: unavailable ? "unavailable" : "internal", requestId: context.requestId },
    });
  });
  // Without `data` nothing was executed (a variable did not fit, say): the query's fault, a bad request in the new media type.
  const status = broken ? 500 : away ? 503 : data === undefined && newMediaType ? 400 : 200;
  return answer(status, newMediaType, JSON.stringify(data === undefined ? { errors: shown } : { errors: shown, data }), away ? { "retry-after": "1" } : {});
}

function answer(status: number, newMediaType: boolean, body: string, headers: Record<string, string> = {}): Response {
  return [
    body,
    { status, statusText: "", headers: { "content-type": `application/${newMediaType ? "graphql-response+json" : "json"}; charset=utf-8`, ...headers } },
  ];
}
