/** Next.js: one build with a route of the server and client components, which Chromium opens. */
import { execFile, spawn } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { visit } from "./browser.mjs";
import { obtain } from "./install.mjs";
import { codeSize, loadedBy } from "./loaded.mjs";

const run = promisify(execFile);
const require = createRequire(import.meta.url);

const EVERYWHERE = {
  "package.json": '{"private":true}\n',
  "next.config.mjs": "export default { outputFileTracingRoot: '/', turbopack: { root: '/' } };\n",
  "app/layout.js":
    "export default function Layout({ children }) { return <html><body>{children}</body></html>; }\n",
};

const CHECKED = {
  "app/answer/route.js": `import * as boxwright from "boxwright";
import { runAll } from "../../conformance.mjs";
import { cases } from "../../cases.mjs";
export const dynamic = "force-dynamic";
export const GET = () => Response.json(runAll(boxwright, cases));
`,
  // The server renders a client component too: nothing of the decoder may run before the effect.
  "app/client/page.js": `"use client";
import { useEffect, useState } from "react";
import * as boxwright from "boxwright";
import { runAll } from "../../conformance.mjs";
import { cases } from "../../cases.mjs";
export default function Page() {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    boxwright.createDecoder(cases[0].config).then((late) => {
      const result = runAll(boxwright, cases);
      if (late.engine !== result.engine) result.failures.push("createDecoder chose " + late.engine);
      result.failed += late.engine === result.engine ? 0 : 1;
      setPassed(result.passed);
      globalThis.boxwrightResult = result;
    });
  }, []);
  return <p>{passed}</p>;
}
`,
};

/** What a user writes, and the same page without the package: the difference is what the package costs. */
const SMALL = {
  "app/small/page.js": `"use client";
import { useEffect } from "react";
import { createDecoder } from "boxwright";
export default function Page() {
  useEffect(() => void (globalThis.createDecoder = createDecoder), []);
  return <p>small</p>;
}
`,
  "app/none/page.js": `"use client";
import { useEffect } from "react";
export default function Page() {
  useEffect(() => void (globalThis.createDecoder = null), []);
  return <p>none</p>;
}
`,
};

/** Folders of apps that are built, by name. */
const built = new Map();

/** Builds an app of these pages, once. Returns its folder. */
function build(app, name, pages) {
  if (!built.has(name)) built.set(name, buildIn(app, join(app, name), pages));
  return built.get(name);
}

async function buildIn(app, folder, pages) {
  const program = await obtain("next");
  const modules = join(program, "..", "..", "..", "..");
  await mkdir(join(folder, "node_modules"), { recursive: true });
  for (const name of ["next", "react", "react-dom"])
    await symlink(join(modules, name), join(folder, "node_modules", name), "dir");
  const installed = join("node_modules", "boxwright");
  await cp(join(app, installed), join(folder, installed), { recursive: true });
  for (const name of ["conformance.mjs", "beside.mjs", "cases.mjs"])
    await cp(join(app, name), join(folder, name));
  for (const [name, text] of Object.entries({ ...EVERYWHERE, ...pages })) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  await run(await obtain("node22"), [program, "build"], { cwd: folder, env: env(), maxBuffer: 1 << 26 });
  return folder;
}

const env = () => ({ ...process.env, NODE_OPTIONS: "", NEXT_TELEMETRY_DISABLED: "1", CI: "true" });

/** Starts the built app, hands its address over, and ends it. */
async function withServer(folder, use) {
  const program = await obtain("next");
  const child = spawn(await obtain("node22"), [program, "start", "--hostname", "127.0.0.1", "--port", "0"], {
    cwd: folder,
    env: env(),
  });
  try {
    const address = await new Promise((resolve, reject) => {
      let text = "";
      child.on("exit", (code) => reject(new Error(`next start: exit ${code}\n${text}`)));
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (d) => {
          text += d;
          const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
          if (found && /Ready/.test(text)) resolve(found[0]);
        });
    });
    return await use(address);
  } finally {
    child.kill();
  }
}

async function ask(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`next: ${address} answered ${response.status}`);
  return response;
}

/** Returns the files of programs that a page names. */
async function programsOf(folder, address) {
  const text = await (await ask(address)).text();
  return [...text.matchAll(/<script[^>]* src="\/_next\/([^"?]+\.js)/g)].map(([, file]) =>
    join(folder, ".next", file),
  );
}

/** Returns what the package adds to a page. */
async function costIn(app) {
  const folder = await build(app, "next-small", SMALL);
  return withServer(folder, async (address) => {
    const without = new Set(await programsOf(folder, `${address}/none`));
    const all = await programsOf(folder, `${address}/small`);
    return codeSize(all.filter((file) => !without.has(file)));
  });
}

/** The route of the server answers. */
export const nextServer = () => ({
  async go(app) {
    const answer = async (address) => (await ask(`${address}/answer`)).json();
    const result = await withServer(await build(app, "next", CHECKED), answer);
    return { result, loaded: loadedBy(join(app, "esm.mjs")) };
  },
});

/** The client component decodes in Chromium. */
export const nextClient = () => ({
  async go(app) {
    const playwright = require(await obtain("playwright"));
    const open = (address) => visit({ playwright, address: `${address}/client` });
    const result = await withServer(await build(app, "next", CHECKED), open);
    return { result, loaded: await costIn(app) };
  },
});
