/** Makes the sidebar. A page that no group names stands under "More", so that none is lost. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";

/** The pages of docs/ by what the reader wants to do. */
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
    ["api", "limits", "migration", "comparison", "performance", "performance-parts", "evidence", "mutants"],
  ],
];

/** Returns the first heading of a page. */
function titleOf(file: string): string {
  const [, title] = /^# (.+)$/m.exec(readFileSync(file, "utf8")) ?? [];
  return title?.replace(/[`*]/g, "") ?? file;
}

export function sidebar(pages: string): DefaultTheme.SidebarItem[] {
  if (!existsSync(pages)) return [];
  const named = new Set(["index", "playground", "measure", ...GROUPS.flatMap(([, names]) => names)]);
  const pagesIn = (folder: string): string[] =>
    existsSync(join(pages, folder))
      ? readdirSync(join(pages, folder))
          .filter((file) => file.endsWith(".md"))
          .map((file) => file.slice(0, -3))
      : [];
  const item = (name: string): DefaultTheme.SidebarItem => ({
    text: titleOf(join(pages, `${name}.md`)),
    link: `/${name}`,
  });
  const itemsOf = (names: readonly string[]): DefaultTheme.SidebarItem[] =>
    names.filter((name) => existsSync(join(pages, `${name}.md`))).map(item);
  const more = pagesIn("").filter((name) => !named.has(name));
  return [
    ...GROUPS.map(([text, names]) => ({ text, items: itemsOf(names) })),
    ...(more.length > 0 ? [{ text: "More", items: itemsOf(more) }] : []),
    {
      text: "Families",
      collapsed: true,
      items: [
        { text: "All families", link: "/families/" },
        ...itemsOf(
          pagesIn("families")
            .filter((name) => name !== "index")
            .map((name) => `families/${name}`),
        ),
      ],
    },
    {
      text: "Types",
      collapsed: true,
      items: itemsOf(pagesIn("reference").map((name) => `reference/${name}`)),
    },
    {
      text: "Project",
      collapsed: true,
      items: itemsOf(
        ["CONTRIBUTING", "CHANGELOG", "examples/README", "embedded/README", "fleet/README"].map(
          (n) => `repository/${n}`,
        ),
      ),
    },
  ].filter(({ items }) => items.length > 0);
}
