/** Devices of a team as GraphQL answers them: whole or in pages, with a limit on the values of one answer. */
import type { Queries } from "boxwright-service/database";
import { listDevices, type Device } from "../nouns/device.ts";
import { isDeviceId } from "../nouns/text.ts";
import type { PageArguments, PageInfo } from "./connection.ts";
import { queryError } from "./errors.ts";
import type { Values } from "./values.ts";

export interface Connection {
  readonly nodes: readonly Device[];
  readonly pageInfo: PageInfo;
}

/** The pages that one request asks for. */
export class DevicePages {
  readonly #db: Queries;
  readonly #teamId: string;
  readonly #values: Values;
  /** Pages read so far, by their arguments: aliases of one page share one query. */
  readonly #pages = new Map<string, Connection>();
  /** Settles when every page asked for so far is read and counted. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(db: Queries, teamId: string, values: Values) {
    this.#db = db;
    this.#teamId = teamId;
    this.#values = values;
  }

  /** Reads one page after another, so that the page that makes the answer too large is the last one read. */
  read(args: PageArguments): Promise<Connection> {
    const page = this.#turn.then(() => this.#readCounted(args.first ?? undefined, args.after ?? undefined));
    this.#turn = page.catch(() => undefined);
    return page;
  }

  async #readCounted(first: number | undefined, after: string | undefined): Promise<Connection> {
    this.#values.check();
    const name = `${first ?? ""} ${after ?? ""}`;
    let page = this.#pages.get(name);
    if (page === undefined) this.#pages.set(name, (page = await this.#readPage(first, after)));
    this.#values.count(page.nodes.length);
    return page;
  }

  async #readPage(first: number | undefined, after: string | undefined): Promise<Connection> {
    if (first !== undefined && first < 1) throw queryError("invalid_input", `first: got ${first}, expected at least 1`);
    const start = after === undefined ? "" : decodeCursor(after);
    // Read one more than asked for: it tells whether there is a next page.
    const rows = await listDevices(this.#db, this.#teamId, start, first === undefined ? undefined : first + 1);
    const hasNextPage = first !== undefined && rows.length > first;
    const nodes = hasNextPage ? rows.slice(0, first) : rows;
    const last = nodes.at(-1);
    return { nodes, pageInfo: { hasNextPage, endCursor: last === undefined ? null : encodeCursor(last.id) } };
  }
}

function encodeCursor(id: string): string {
  return Buffer.from(id).toString("base64url");
}

function decodeCursor(cursor: string): string {
  const id = Buffer.from(cursor, "base64url").toString();
  if (isDeviceId(id) && encodeCursor(id) === cursor) return id;
  throw queryError(
    "invalid_input",
    `after: got ${JSON.stringify(cursor.slice(0, 80))}, expected an endCursor of an earlier answer`,
  );
}
