/** Writes a page with all pictures. The page links only to the pictures beside it. */
import { isGood, time, verdict } from "./table.mjs";

const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const cells = (row, name = "td") => row.map((cell) => `<${name}>${escape(cell)}</${name}>`).join("");

const card = (shot) => `
      <figure>
        ${shot.svg.replace(/ width="\d+" height="\d+" viewBox/, " viewBox")}
        <figcaption>
          <b>${escape(shot.title)}</b> <a href="${shot.file}.svg">SVG</a> <a href="${shot.file}.png">PNG</a>
          <div class="wide"><table>
            <tr>${cells(shot.head, "th")}</tr>
            ${shot.rows.map((row) => `<tr>${cells(row)}</tr>`).join("\n            ")}
          </table></div>
          <table>
            <tr>${cells(["engine", ...shot.runs.map(({ engine }) => engine)], "th")}</tr>
            <tr>${cells(["time", ...shot.runs.map(({ us }) => time(us))])}</tr>
          </table>
          <p class="${isGood(shot) ? "good" : "bad"}">${escape(verdict(shot))}</p>
          ${shot.problems.map((problem) => `<p class="bad">${escape(problem)}</p>`).join("")}
          ${shot.note ? `<p>${escape(shot.note)}</p>` : ""}
        </figcaption>
      </figure>`;

/** Returns HTML about how the decoder interpreted the tensors, once for each network. */
function plans(shots) {
  const byNetwork = new Map(shots.filter(({ plan }) => plan).map(({ network, plan }) => [network, plan]));
  if (byNetwork.size === 0) return "";
  const texts = [...byNetwork].map(
    ([network, plan]) => `<h3>${escape(network)}</h3><pre>${escape(plan)}</pre>`,
  );
  return `<details><summary>What the decoder took the tensors for</summary>${texts.join("")}</details>`;
}

const section = ({ title, what, shots }) => `
    <section id="${title.toLowerCase().replaceAll(" ", "-")}">
      <h2>${escape(title)}</h2>
      <p>${escape(what)}</p>
      <div class="row">${shots.map(card).join("")}
      </div>
      ${plans(shots)}
    </section>`;

const STYLE = `
      :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
      body { font: 15px/1.5 system-ui, sans-serif; max-width: 1280px; margin: 2.5rem auto; padding: 0 1.25rem; }
      h1 { margin-bottom: 0; } h2 { margin: 2.5rem 0 0; } section > p { margin-top: 0; max-width: 60rem; opacity: .75; }
      h3 { font-size: 1em; margin-bottom: 0; } nav a { margin-right: 1rem; }
      .row { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 400px), 1fr)); gap: 1.25rem; align-items: start; }
      figure { margin: 0; border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
      figure > svg { display: block; width: 100%; height: auto; }
      figcaption { padding: .75rem 1rem 1rem; } figcaption a { margin-left: .5rem; }
      .wide { overflow-x: auto; }
      table { border-collapse: collapse; width: 100%; margin-top: .6rem; font-variant-numeric: tabular-nums; font-size: 12px; }
      th, td { text-align: right; vertical-align: bottom; padding: .2rem .25rem; border-bottom: 1px solid var(--line); }
      td { white-space: nowrap; } th { font-weight: 500; opacity: .7; } th:first-child, td:first-child { text-align: left; }
      figcaption p { margin: .6rem 0 0; } .good { color: #1a8f4c; } .bad { color: #d4283b; font-weight: 600; }
      .good::first-letter { text-transform: uppercase; }
      details { margin-top: 1rem; } pre { overflow-x: auto; font-size: 12.5px; }
    `;

/** Returns the page as HTML. */
export function pageOf(sections) {
  const links = sections.map(
    ({ title }) => `<a href="#${title.toLowerCase().replaceAll(" ", "-")}">${title}</a>`,
  );
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>boxwright demo</title>
    <style>${STYLE}</style>
  </head>
  <body>
    <h1>boxwright</h1>
    <p>Everything that a detection carries, decoded by each engine and held against what other software or plain
    formulas answered. Times are medians on Node ${escape(process.version)}, ${escape(process.arch)}.</p>
    <nav>${links.join("")}</nav>${sections.map(section).join("")}
  </body>
</html>
`;
}
