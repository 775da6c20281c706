/**
 * Routes that show what was seen at which time. `/v1/timeline` divides one camera's history into spans. `/v1/seen`
 * lists events of all cameras.
 */
import type { Database } from "boxwright-service/database";
import type { Handler, Router } from "boxwright-service/http/router";
import { Refusal } from "../core/errors.ts";
import { sortableNow, sortableTime } from "../core/time.ts";
import { EVERY_FRAME, UNITS } from "../store/count-seen.ts";
import { type SeenFilter, type Unit, findEvents, labelsSeen, timeline } from "../store/seen.ts";
import { CLOCK_SLACK_MS } from "../store/frames.ts";
import type { Guards } from "./guards.ts";
import { readLimit } from "./query.ts";

const MOST_EVENTS = 1000;

/** Returns the start of a span as an RFC 3339 time. */
const timeOf = (start: string): string => `${start}${"0000-01-01T00:00:00Z".slice(start.length)}`;

export function addHistoryRoutes(router: Router, db: Database, guards: Guards, now: () => number): void {
  const sendTimeline: Handler = async (exchange) => {
    const query = new URLSearchParams(exchange.search);
    const filter = readFilter(query);
    if (filter.source === undefined || filter.subject === undefined)
      throw new Refusal("foreign", "source, subject: got one or none, expected both: a timeline has one camera");
    const unit = query.get("unit") ?? "hour";
    if (!Object.hasOwn(UNITS, unit))
      throw new Refusal(
        "foreign",
        `unit: got ${JSON.stringify(unit.slice(0, 40))}, expected one of ${Object.keys(UNITS).join(", ")}`,
      );
    const spans = await timeline(db, filter, unit as Unit);
    exchange.sendJson(200, {
      unit,
      spans: spans.map(({ start, label, frames, detections, best }) => ({
        start: timeOf(start),
        label: label === EVERY_FRAME ? null : label,
        frames,
        detections,
        best: label === EVERY_FRAME ? null : best,
      })),
    });
  };

  const sendSeen: Handler = async (exchange) => {
    const query = new URLSearchParams(exchange.search);
    // Leave out times in the future: otherwise, events from a wrong clock would stay at the top of the list for years.
    const filter = { to: sortableNow(now() + CLOCK_SLACK_MS), ...readFilter(query) };
    const { events, isWhole } = await findEvents(
      db,
      filter,
      readLimit(query.get("limit") ?? undefined, 100, MOST_EVENTS),
    );
    const { source, subject } = filter;
    exchange.sendJson(200, {
      labels: await labelsSeen(db, { source, subject }),
      isWhole,
      events: events.map(({ first, last, subject: camera, ...event }) => ({
        ...event,
        subject: camera === "" ? null : camera,
        first: timeOf(first),
        last: timeOf(last),
      })),
    });
  };
  router.get("/v1/timeline", guards.readers(sendTimeline));
  router.get("/v1/seen", guards.readers(sendSeen));
}

function readFilter(query: URLSearchParams): SeenFilter {
  const [from, to] = ["from", "to"].map((name) => {
    const text = query.get(name);
    const time = text === null ? undefined : sortableTime(text);
    if (text !== null && time === undefined)
      throw new Refusal("foreign", `${name}: got ${JSON.stringify(text.slice(0, 60))}, expected a time in RFC 3339`);
    return time;
  });
  const [source, subject, label] = ["source", "subject", "label"].map((name) => query.get(name) ?? undefined);
  return { source, subject, label, from, ...(to !== undefined && { to }) };
}
