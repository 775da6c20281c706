/**
 * Makes a build work at any address. VitePress writes the site's base into every file. We use a placeholder as base. In
 * pages and styles it becomes a relative path, in programs a variable that each page computes.
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "acorn";

/** The base of a build. */
export const PLACEHOLDER = "/__boxwright_base__/";

/** The variable with the base at run time: a path that ends with a slash. */
const VARIABLE = "globalThis.boxwrightBase";

/** Makes every file of a folder independent of its address. */
export function relocate(folder) {
  for (const file of readdirSync(folder, { recursive: true })) {
    const change = /\.html$/.test(file)
      ? relocatedPage
      : /\.m?js$/.test(file)
        ? relocatedModule
        : /\.css$/.test(file)
          ? relocatedStyle
          : null;
    if (change === null) continue;
    const text = readFileSync(join(folder, file), "utf8");
    const up = "../".repeat(file.split(/[\\/]/).length - 1) || "./";
    const changed = text.includes(PLACEHOLDER) ? change(text, up) : text;
    if (changed.includes(PLACEHOLDER))
      throw new Error(`${file}: got the placeholder of the base in a place that relocate() does not know`);
    if (changed !== text) writeFileSync(join(folder, file), changed);
  }
}

const relocatedStyle = (text, up) => text.replaceAll(PLACEHOLDER, up);

/**
 * Returns a page with relative addresses. A program makes them absolute before Vue hydrates the page: Vue keeps some
 * links from page to page, and relative ones would then lead elsewhere.
 */
function relocatedPage(text, up) {
  const setBase = `<script>${VARIABLE}=new URL(${JSON.stringify(up)},location.href).pathname</script>`;
  const absolute = `<script>{const b=${VARIABLE},u=${JSON.stringify(up)};for(const e of document.querySelectorAll("[href],[src]"))for(const n of["href","src"]){const v=e.getAttribute(n);if(v!==null&&e.rel!=="stylesheet"&&!/preload/.test(e.rel)&&e.tagName!=="SCRIPT"&&v.startsWith(u))e.setAttribute(n,b+v.slice(u.length))}}</script>`;
  return text
    .replaceAll(
      /(<script[^>]*>)([\s\S]*?)(<\/script>)/g,
      (whole, open, program, close) =>
        open.replaceAll(PLACEHOLDER, up) + (program === "" ? "" : relocatedProgram(program)) + close,
    )
    .replaceAll(PLACEHOLDER, up)
    .replace(/<head>/, `<head>${setBase}`)
    .replace(/<\/body>/, `${absolute}</body>`);
}

/** Returns a module that sets the variable in workers, where no page sets it. */
const relocatedModule = (text, up) =>
  `${VARIABLE}??=new URL(${JSON.stringify(up)},import.meta.url).pathname;${relocatedProgram(text)}`;

/** Returns a program that builds strings with the placeholder from the variable. */
function relocatedProgram(text) {
  if (!text.includes(PLACEHOLDER)) return text;
  const changes = [];
  const seen = (node) => {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach(seen);
    if (node.type === "Literal" && typeof node.value === "string" && node.value.includes(PLACEHOLDER))
      changes.push([node.start, node.end, joined(node.value)]);
    else if (node.type === "TemplateElement" && node.value.raw.includes(PLACEHOLDER))
      changes.push([node.start, node.end, node.value.raw.replaceAll(PLACEHOLDER, `\${${VARIABLE}}`)]);
    else for (const value of Object.values(node)) seen(value);
  };
  seen(parse(text, { ecmaVersion: "latest", sourceType: "module" }));
  let result = text;
  for (const [start, end, by] of changes.sort((a, b) => b[0] - a[0]))
    result = result.slice(0, start) + by + result.slice(end);
  return result;
}

const joined = (value) =>
  `(${value
    .split(PLACEHOLDER)
    .map((part) => JSON.stringify(part))
    .join(`+${VARIABLE}+`)})`;
