/**
 * Pictures of every page, on a desktop and a phone, light and dark: `npm run screenshots`. The pictures are in
 * out/screenshots/, which git ignores. Look at the pictures after a change of a page.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { chromiumFlags, chromiumPath } from "boxwright-service/testing/chromium";
import { HubProcess, run, useLinkAt, type Environment } from "../test/support/process.ts";
import { tour, tourNames, type TourStop } from "../test/support/tour.ts";

const target = fileURLToPath(new URL("../screenshots", import.meta.url));
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 320, height: 640 } } as const;

async function command<T>(env: Environment, args: readonly string[], input?: string): Promise<T> {
  const ran = await run(args, env, input === undefined ? {} : { input });
  if (ran.code !== 0) throw new Error(ran.stderr);
  return ran.json as T;
}

async function prepare(env: Environment): Promise<{ hub: HubProcess; stop: TourStop }> {
  const email = "northern.gate.operator@greenhouse.example.org";
  const otherMember = "b.member@greenhouse.example.org";
  const { team } = await command<{ team: { id: string } }>(env, ["init", "--email", email, "--team", tourNames.team]);
  const { id: emptyTeam } = await command<{ id: string }>(env, ["teams", "add", "--name", tourNames.second]);
  const more = Array.from({ length: 130 }, (_, i) => `Camera ${i + 1}`);
  await command(env, ["devices", "import", "--team", team.id, "-"], [...tourNames.devices, ...more].join("\n"));
  const invite = async (id: string, who: string, role: string): Promise<string> =>
    (await command<{ link: string }>(env, ["users", "invite", "--team", id, "--email", who, "--role", role])).link;
  const hub = await HubProcess.start(env);
  const here = (link: string): string => new URL(new URL(link).pathname, hub.url).href;
  for (const [id, who] of [
    [team.id, email],
    [emptyTeam, email],
    [team.id, otherMember],
  ] as const)
    await useLinkAt(hub.url, here(await invite(id, who, "admin")));
  const invitation = here(await invite(team.id, tourNames.invited, "member"));
  return { hub, stop: { url: hub.url, email, otherMember, team: team.id, emptyTeam, invitation } };
}

const folder = mkdtempSync(join(tmpdir(), "hub-screenshots-"));
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
if (chromiumPath === undefined) throw new Error("got no Chromium, expected the Debian package chromium");
const { hub, stop } = await prepare({
  HUB_DATABASE_FILE: join(folder, "hub.db"),
  HUB_SIGN_INS_PER_MINUTE: "1000",
  HUB_SIGN_IN_BURST: "1000",
});
const browser = await chromium.launch({ executablePath: chromiumPath, args: chromiumFlags });
try {
  for (const [size, viewport] of Object.entries(SIZES)) {
    const context = await browser.newContext({ viewport });
    const page = await context.newPage();
    await tour(page, stop, async (name) => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: join(target, `${name}-${size}-${colorScheme}.png`), fullPage: true });
      }
    });
    await context.close();
  }
} finally {
  await browser.close();
  await hub.stop();
}
rmSync(folder, { recursive: true, force: true });
console.log(`Pictures are in ${target}.`);
