/** Makes the sidebar. Pages without a group appear under "More". */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";

/** The pages of docs/ by the reader's task. */
const GROUPS: readonly (readonly [title: string, pages: readonly string[]])[] = [
  ["Begin", ["overview", "photo", "detect", "sources", "troubleshooting"]],
  ["Read a network", ["networks", "model-files", "nn-config", "rules", "prepare", "prepare-rule", "crops"]],
  ["Beyond boxes", ["keypoints", "masks", "mask-results", "oriented", "suppression", "tiles", "tracking"]],
  [
    "Run it",
    ["deployment", "recipes", "react-native", "command-line", "pool", "packets", "fleet", "runtimes"],
  ],
  [
    "Look up",
    ["api", "limits", "migration", "comparison", "conformance", "performance", "small-processors", "support"],
  ],
  // For developers of boxwright.
  ["How it is checked", ["work/evidence", "work/mutants", "work/performance-parts"]],
];

/** Returns the first heading of a page. */
function titleOf(file: string): string {
  const [, title] = /^# (.+)$/m.exec(readFileSync(file, "utf8")) ?? [];
  return title?.replace(/[`*]/g, "") ?? file;
}

/** Returns two sidebars: the usual one, and one for pages of families, which alone lists all families. */
export function sidebar(pages: string): DefaultTheme.SidebarMulti {
  const pagesIn = (folder: string): string[] =>
    existsSync(join(pages, folder))
      ? readdirSync(join(pages, folder))
          .filter((file) => file.endsWith(".md"))
          .map((file) => join(folder, file.slice(0, -3)))
      : [];
  // A collapsed group links to its first page: without a link, the theme nests two buttons.
  const group = (text: string, names: readonly string[], collapsed?: true): DefaultTheme.SidebarItem => ({
    text,
    collapsed,
    ...(collapsed && { link: `/${names[0]}` }),
    items: names
      .filter((name) => existsSync(join(pages, `${name}.md`)))
      .map((name) => ({ text: titleOf(join(pages, `${name}.md`)), link: `/${name}` })),
  });
  const named = new Set(["index", "playground", "measure", ...GROUPS.flatMap(([, names]) => names)]);
  const project = ["CONTRIBUTING", "CHANGELOG", "examples/README", "embedded/README", "fleet/README"];
  const all = { text: "All families", link: "/families/" };
  const groups = [
    ...GROUPS.map(([text, names]) => group(text, names)),
    group(
      "More",
      pagesIn("").filter((name) => !named.has(name)),
    ),
    { text: "Families", items: [all] },
    group("Types", pagesIn("reference"), true),
    group(
      "Project",
      project.map((name) => `repository/${name}`),
      true,
    ),
  ].filter(({ items }) => items!.length > 0);
  const families = group(
    "Families",
    pagesIn("families").filter((name) => name !== "families/index"),
  );
  // List families only on their own pages: Vue hydrates every link when a page opens, which takes time.
  return {
    "/families/": [
      { ...families, items: [all, ...families.items!] },
      ...groups.filter(({ text }) => text !== "Families"),
    ],
    "/": groups,
  };
}
