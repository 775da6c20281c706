import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type MarkdownRenderer, defineConfig } from "vitepress";
import { finish } from "../scripts/finish.mjs";
import { PLACEHOLDER } from "../scripts/relocate.mjs";
import { sidebar } from "./sidebar.ts";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const isBuild = process.argv.includes("build");

/** Adds a live decode under each family example that imports only the package. */
function addLiveExamples(md: MarkdownRenderer): void {
  const fence = md.renderer.rules.fence!;
  md.renderer.rules.fence = (tokens, i, options, env, self) => {
    const html = fence(tokens, i, options, env, self);
    const { info, content } = tokens[i];
    const imports = [...content.matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
    const isExample =
      /^families\//.test(env.relativePath) &&
      info.startsWith("js") &&
      imports.length > 0 &&
      imports.every((name) => name === "boxwright");
    return isExample ? `${html}<LiveExample code="${encodeURIComponent(content)}" />` : html;
  };
}

/** Makes empty header cells of tables plain cells: a header without text says nothing in a screen reader. */
function addPlainCorners(md: MarkdownRenderer): void {
  md.core.ruler.push("plain-corners", ({ tokens }) => {
    tokens.forEach((token, i) => {
      if (token.type !== "th_open" || tokens[i + 1].content !== "") return;
      token.tag = tokens[i + 2].tag = "td";
    });
  });
}

export default defineConfig({
  title: "boxwright",
  description:
    "Turns the raw output tensors of detection networks into labelled boxes, in any JavaScript runtime.",
  lang: "en",
  srcDir: ".pages",
  outDir: "dist",
  cacheDir: ".cache",
  // finish() makes addresses relative after the build.
  base: isBuild ? PLACEHOLDER : "/",
  lastUpdated: false,
  // Otherwise the theme computes the style of the whole page again when a page opens.
  appearance: { disableTransition: false },
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${isBuild ? PLACEHOLDER : "/"}icon.svg` }]],
  themeConfig: {
    logo: "/icon.svg",
    nav: [
      { text: "Playground", link: "/playground" },
      { text: "Documentation", link: "/overview", activeMatch: "^/(?!playground|measure|index)." },
      { text: "Measure", link: "/measure" },
    ],
    sidebar: sidebar(at("../.pages")),
    outline: [2, 3],
    search: { provider: "local" },
    externalLinkIcon: true,
    // The result for the first page, decoded by scripts/examples.mjs.
    first: JSON.parse(readFileSync(at("../.pages/first.json"), "utf8")),
  },
  markdown: {
    config(md) {
      addLiveExamples(md);
      addPlainCorners(md);
    },
    // The usual colours have too little contrast on a code block's background.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  vite: {
    publicDir: at("../.pages/public"),
    resolve: {
      alias: [
        { find: /^boxwright$/, replacement: at("../../src/entries/index.ts") },
        { find: /^#(kernels)$/, replacement: at("../../dist/$1.mjs") },
        { find: /^@repo\//, replacement: at("../../") },
        { find: "@default-theme", replacement: "vitepress/dist/client/theme-default/components" },
        { find: /^\.\/components\/VP(Nav|Sidebar)\.vue$/, replacement: at("./theme/$1.ts") },
        { find: /^\.\/VPHome\.vue$/, replacement: at("./theme/Home.ts") },
        { find: "node:zlib", replacement: at("../src/worker/zlib.ts") },
      ],
    },
    server: { fs: { allow: [at("../..")] } },
    build: { chunkSizeWarningLimit: 2000, assetsInlineLimit: 0 },
    // Use VitePress's file names, so that page and worker share one binary.
    worker: {
      format: "es",
      rollupOptions: { output: { assetFileNames: "assets/[name].[hash].[ext]" } },
    },
  },
  buildEnd: (site) => finish(site),
});
