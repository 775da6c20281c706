/** Makes the tables of docs/conformance.md from results.json. */

const MARKS = ["<!-- results -->", "<!-- /results -->"];
const percent = (part) => `${(part * 100).toPrecision(2)} %`;
const several = (count, what) => `${count} ${what}`;

/** Says what is wrong with an answer, and by how much. */
export function mistake({ outcome, message, missing, extra, box, score }, tolerance) {
  if (outcome === "refused") return `refused: ${message.replaceAll("|", "\\|")}`;
  const parts = [];
  if (missing > 0) parts.push(several(missing, "missing"));
  if (extra > 0) parts.push(several(extra, "too many"));
  if (box > tolerance) parts.push(`boxes up to ${percent(box)} of the input away`);
  if (score > tolerance) parts.push(`scores up to ${score.toPrecision(2)} away`);
  return parts.join(", ");
}

const cellOf = (result, { tolerance }) =>
  ({ right: "yes", "not read": "-" })[result.outcome] ?? mistake(result, tolerance);

const row = (cells) => `| ${cells.join(" | ")} |`;
const table = (head, rows) => [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

/** Returns the text between the marks: a table of decoders, and one of cases. */
export function tablesOf(set, { date, node, decoders, closed }) {
  const count = ({ outcomes }, name) => Object.values(outcomes).filter((o) => o.outcome === name).length;
  const sums = decoders.map((d) => {
    const read = set.cases.length - count(d, "not read");
    const rules = d.rules?.join(", ") ?? "each";
    return [`${d.name} ${d.version}`, d.licence, String(read), String(count(d, "right")), rules];
  });
  const cases = set.cases.map((c) => [
    `\`${c.id}\``,
    c.network,
    ...decoders.map(({ outcomes }) => cellOf(outcomes[c.id], c)),
  ]);
  return [
    `Version ${set.version} of the set, run on ${date} in Node ${node.slice(1)}.`,
    table(["decoder", "licence", `networks that it reads, of ${set.cases.length}`, "right", "rules"], sums),
    ...closed.map((d) => `${d.name} ${d.version} is not in the tables. ${d.why}.`),
    '"-" is a network that the package does not say it reads. That is no fault.',
    table(["case", "network", ...decoders.map((d) => d.name)], cases),
  ].join("\n\n");
}

/** Returns the page with other text between its marks. */
export function withTables(page, text) {
  const [from, to] = MARKS.map((mark) => page.indexOf(mark));
  if (from < 0 || to < from) throw new Error(`got a page without ${MARKS.join(" and ")}, expected both`);
  return `${page.slice(0, from + MARKS[0].length)}\n\n${text}\n\n${page.slice(to)}`;
}
