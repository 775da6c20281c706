/** Visits every page of the hub in every state worth looking at. The tests measure each, a script takes pictures. */
import type { Page } from "playwright-core";
import { password } from "./person.ts";
import { png, sha256Of } from "./pictures.ts";
import { snapOf } from "./snaps.ts";

/** Names as people give them: long, with long words and other scripts. */
export const tourNames = {
  team: "Greenhouse, loading dock and northern gate of the Schifffahrtsgesellschaft",
  second: "Second team",
  devices: [
    "Front door",
    "Loading dock, camera above the third gate on the left, facing the street",
    "Gewächshaus Temperaturüberwachungskamera",
    "Überwachungskamera Straßenbahnhaltestelle",
    "温室カメラ",
    "Greenhouse",
  ],
  invited: "an.invited.person@greenhouse.example.org",
} as const;

/** A hub with two teams. The first has more than 100 devices, another member, and an open invitation. */
export interface TourStop {
  readonly url: string;
  readonly email: string;
  readonly otherMember: string;
  readonly team: string;
  readonly emptyTeam: string;
  /** Address of an open invitation. */
  readonly invitation: string;
}

/** Calls `look` on each page. The names are file names too. */
export async function tour(page: Page, hub: TourStop, look: (name: string) => Promise<void>): Promise<void> {
  await beforeSignIn(page, hub, look);
  await page.goto(`${hub.url}/sign-in`);
  await page.getByLabel("Email").fill(hub.email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/teams");
  await look("teams");
  await devices(page, hub, look);
  await groups(page, hub, look);
  await adoptKeys(page, hub, look);
  await applications(page, hub, look);
  await alerts(page, hub, look);
  await settings(page, hub, look);
  await members(page, hub, look);
  await page.goto(`${hub.url}/account`);
  await look("account");
  await page.getByLabel("Current password").fill("not the password");
  await page.getByLabel("New password").fill("whatever it may be");
  await page.getByRole("button", { name: "Change the password" }).click();
  await look("account-failed");
  await page.goto(`${hub.url}/nothing`);
  await look("not-found");
  await page.locator("summary").click();
  await look("menu");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in**");
  await look("signed-out");
}

type Look = (name: string) => Promise<void>;

async function beforeSignIn(page: Page, { url, email, invitation }: TourStop, look: Look): Promise<void> {
  await page.goto(`${url}/sign-in`);
  await look("sign-in");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await look("sign-in-failed");
  await page.goto(invitation);
  await look("invitation");
  await page.getByLabel("Choose a password").fill("1234567890");
  await page.getByRole("button", { name: "Join and sign in" }).click();
  await look("invitation-failed");
  await page.goto(`${url}/link/nothing`);
  await look("link-gone");
  await page.goto(`${url}/graphql`);
  await look("graphql-opened");
}

async function devices(page: Page, { url, team, emptyTeam }: TourStop, look: Look): Promise<void> {
  const list = `${url}/teams/${team}/devices`;
  await page.goto(`${url}/teams/${emptyTeam}/devices`);
  await look("devices-none");
  await page.goto(list);
  await look("devices");
  await page.goto(`${list}?page=2`);
  await look("devices-page-2");
  await page.goto(`${list}?q=gate`);
  await look("devices-search");
  await page.goto(list);
  await page.getByRole("link", { name: "Rename Loading dock" }).click();
  await look("device-rename");
  await page.getByLabel("New name of").fill("\u200b");
  await page.getByRole("button", { name: "Save" }).click();
  await look("device-rename-failed");
  await page.goto(list);
  await page.getByRole("link", { name: "Remove Loading dock" }).click();
  await look("device-remove");
  await page.getByRole("button", { name: "Remove it" }).click();
  await page.getByRole("button", { name: "Undo" }).waitFor();
  await look("device-removed");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("is back.").waitFor();
  await look("device-restored");
}

async function groups(page: Page, { url, team, emptyTeam }: TourStop, look: Look): Promise<void> {
  const list = `${url}/teams/${team}/groups`;
  await page.goto(`${url}/teams/${emptyTeam}/groups`);
  await look("groups-none");
  const name = `Überwachungskameras im Norden ${Date.now()}`;
  for (const one of [name, name]) {
    await page.goto(list);
    await page.getByLabel("Name of the new group").fill(one);
    await page.getByRole("button", { name: "Make group" }).click();
    await page.waitForLoadState();
  }
  await look("group-not-made");
  await page.goto(list);
  await look("groups");
  await page.getByRole("link", { name: `Rename ${name}` }).click();
  await look("group-rename");
  await page.goto(list);
  await page.getByRole("link", { name: `Delete ${name}` }).click();
  await look("group-delete");
  const devices = `${url}/teams/${team}/devices`;
  await page.goto(devices);
  await page.locator("label[data-all] input").check();
  await page.getByRole("button", { name: "Add to group" }).click();
  await page.getByText(/Added \d+ devices/).waitFor();
  await look("devices-grouped");
  await page.goto(`${devices}?status=offline&sort=name`);
  await look("devices-filtered");
  await page.getByRole("checkbox", { name: "Tick Camera 1", exact: true }).check();
  await page.getByRole("button", { name: "Remove", exact: true }).last().click();
  await look("devices-remove");
}

/** A heartbeat of a device in good health, but for its clock. */
const HEARTBEAT = {
  ...{ counter: 1, process_id: "tour", version: "1.0.0", model: "Raspberry Pi 5", architecture: "arm64" },
  application: { identifier: "gate-people", version: "gate-people:0123456789abcdef", state: "failed" },
  ...{ frames: 123_456, dropped: 12, lost: 0, decode_ms: { p50: 2.1, p99: 9.7 } },
  spool: { bytes: 2_000_000, limit: 64_000_000, frames: 3 },
  ...{ time: "1970-01-01T00:02:00Z", last_error: "camera away" },
  network_interfaces: [{ name: "eth0", ipv4: "10.0.0.17", mac: "dc:a6:32:00:00:01" }],
};

async function alerts(page: Page, { url, team, emptyTeam }: TourStop, look: Look): Promise<void> {
  await page.goto(`${url}/teams/${emptyTeam}/alerts`);
  await look("alerts-none");
  await page.goto(`${url}/teams/${team}/alerts`);
  await page.getByLabel("Name of the new channel").fill("Nachtschichtbereitschaftsdienst");
  await page.getByLabel("Webhook (https://...)").fill("https://a-rather-long-name-of-a-machine.example.org/hook");
  await page.getByRole("button", { name: "Add channel" }).click();
  await look("alert-webhook-made");
  await page.goto(`${url}/teams/${team}/alerts`);
  for (const kind of ["key_expiring", "device_offline"]) {
    await page.getByLabel("New rule").selectOption(kind);
    await page.getByRole("button", { name: "Watch" }).click();
  }
  await page.getByRole("button", { name: "Silence Device offline" }).first().click();
  await look("alerts");
}

async function adoptKeys(page: Page, { url, team, emptyTeam }: TourStop, look: Look): Promise<void> {
  await page.goto(`${url}/teams/${emptyTeam}/adopt-keys`);
  await look("adopt-keys-none");
  await page.goto(`${url}/teams/${team}/adopt-keys`);
  await page.getByLabel("What it is for").fill("Northern wall, autumn");
  await page.getByLabel("Devices at most").fill("3");
  await page.getByRole("checkbox").first().check();
  await page.getByRole("button", { name: "Make adopt key" }).click();
  await look("adopt-key-created");
  const key = await page.getByRole("group", { name: "Your new adopt key" }).textContent();
  const about = { name: "Northern gate, left", model: "Raspberry Pi 5", architecture: "arm64", version: "1.0.0" };
  const enrolled = await page.request.post(`${url}/device/enrol`, { data: { adopt_key: key, ...about } });
  const { device_id, credential } = (await enrolled.json()) as { device_id: string; credential: string };
  const headers = { authorization: `Bearer ${credential}` };
  for (const counter of [2, 1]) {
    const beat = await page.request.post(`${url}/device/heartbeat`, { data: { ...HEARTBEAT, counter }, headers });
    if (beat.status() !== 200) throw new Error(await beat.text());
  }
  await page.goto(`${url}/teams/${team}/adopt-keys`);
  await look("adopt-keys");
  const device = `${url}/teams/${team}/devices/${device_id}`;
  // Heartbeats are written once a second.
  do await page.goto(device);
  while ((await page.getByText("camera away").count()) === 0);
  await look("device");
  await page.goto(`${url}/teams/${team}/devices?q=${device_id}`);
  await look("devices-enrolled");
  await page.goto(device);
  await page.getByRole("link", { name: "Revoke the credential" }).click();
  await look("device-revoke");
  await page.getByRole("button", { name: "Revoke it" }).click();
  await page.getByText("Revoked: the hub refuses this device.").waitFor();
  await look("device-revoked");
  await page.getByRole("button", { name: "Make an adopt key" }).click();
  await look("device-adopt-key");
  await page.goto(`${url}/teams/${team}/audit?kind=device.`);
  await look("audit");
}

const CONFIG = `{"family": "yolov8", "classes": 2, "inputSize": [640, 640], "labels": ["person", "Überwachungskamera"]}`;

async function applications(page: Page, { url, team, emptyTeam }: TourStop, look: Look): Promise<void> {
  await page.goto(`${url}/teams/${emptyTeam}/apps`);
  await look("apps-none");
  await page.goto(`${url}/teams/${emptyTeam}/snaps`);
  await look("snaps-none");
  await page.goto(`${url}/teams/${team}/apps`);
  await page.getByLabel("Name of the new application").fill(`Personen am nördlichen Tor ${Date.now()}`);
  await page.getByRole("button", { name: "Add application" }).click();
  await look("app-first-version");
  const config = page.getByLabel("Config", { exact: true });
  await config.fill(`{"family": "yolov99", "clases": 2}`);
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByRole("alert").waitFor();
  await look("app-version-refused");
  await config.fill(CONFIG);
  await page.getByRole("button", { name: "Save version" }).click();
  await page.getByText("Saved as version 1.").waitFor();
  await page.getByRole("link", { name: "Change it in a new version" }).click();
  await config.fill(CONFIG.replace("2", '2, "maxDetections": 50'));
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await page.getByRole("heading", { name: "Difference to version 1" }).waitFor();
  await look("app-version-checked");
  await page.getByRole("button", { name: "Save version" }).click();
  await page.getByText("Saved as version 2.").waitFor();
  await page.getByRole("button", { name: "Give it to these devices" }).click();
  await page.getByText("Version 2 goes to").waitFor();
  await page.getByRole("link", { name: "Version 1", exact: true }).click();
  await page.getByLabel("Share first, in per cent").fill("25");
  await page.getByRole("button", { name: "Give it to these devices" }).click();
  await page.getByText("Version 1 goes to 25 %").waitFor();
  await look("app");
  await page.getByRole("link", { name: "Version 2", exact: true }).click();
  await look("app-version");
  await page.goto(`${url}/teams/${team}/apps`);
  await look("apps");
  await models(page, { url, team, emptyTeam }, look);
  await snaps(page, { url, team }, look);
}

/** Sends a model file as a script of a page does, and looks at the list. */
async function models(
  page: Page,
  { url, team, emptyTeam }: Pick<TourStop, "url" | "team" | "emptyTeam">,
  look: Look,
): Promise<void> {
  await page.goto(`${url}/teams/${emptyTeam}/models`);
  await look("models-none");
  await page.goto(`${url}/teams/${team}/models`);
  const mark = await page.locator("input[name=csrf]").first().getAttribute("value");
  const bytes = Buffer.from(`no model ${Date.now()}`);
  const name = "Fußgängererkennungsnetzwerk-nördliches-Tor-640x640.onnx";
  const sent = await page.request.put(
    `${url}/teams/${team}/models/${sha256Of(bytes)}?name=${encodeURIComponent(name)}`,
    { data: bytes, headers: { origin: url, "x-hub-csrf": mark ?? "" } },
  );
  if (sent.status() !== 201) throw new Error(await sent.text());
  await page.reload();
  await look("models");
  await page.getByRole("link", { name: "Remove" }).first().click();
  await look("model-remove");
}

/** Sends two snaps as a device does, and looks at them. */
async function snaps(page: Page, { url, team }: Pick<TourStop, "url" | "team">, look: Look): Promise<void> {
  await page.goto(`${url}/teams/${team}/adopt-keys`);
  await page.getByLabel("What it is for").fill(`Snaps ${Date.now()}`);
  await page.getByRole("button", { name: "Make adopt key" }).click();
  const key = await page.getByRole("group", { name: "Your new adopt key" }).textContent();
  const about = { name: "Southern gate", model: "Raspberry Pi 5", architecture: "arm64", version: "1.0.0" };
  const enrolled = await page.request.post(`${url}/device/enrol`, { data: { adopt_key: key, ...about } });
  const { device_id, credential } = (await enrolled.json()) as { device_id: string; credential: string };
  const headers = { authorization: `Bearer ${credential}` };
  let last = "";
  for (const [i, colour] of (
    [
      [40, 90, 140],
      [140, 90, 40],
    ] as const
  ).entries()) {
    const bytes = png(640, 360, colour);
    const snap = {
      ...snapOf([bytes]),
      id: `tour-${i}-${Date.now()}`,
      name: "person at the gate",
      tags: ["night", "gate"],
    };
    const posted = await page.request.post(`${url}/device/snaps`, { data: snap, headers });
    const { snap_id, missing } = (await posted.json()) as { snap_id: string; missing: string[] };
    for (const hash of missing)
      await page.request.put(`${url}/device/snaps/${snap_id}/files/${hash}`, { data: bytes, headers });
    last = snap_id;
  }
  await page.goto(`${url}/teams/${team}/snaps`);
  await page.locator("canvas[data-drawn=yes]").first().waitFor({ state: "attached" });
  await look("snaps");
  await page.goto(`${url}/teams/${team}/snaps?tag=night&name=nothing`);
  await look("snaps-filtered");
  await page.goto(`${url}/teams/${team}/snaps/${last}`);
  await page.locator("canvas[data-drawn=yes]").first().waitFor({ state: "attached" });
  await look("snap");
  await page.getByRole("link", { name: "Delete", exact: true }).click();
  await look("snap-delete");
  await page.goto(`${url}/teams/${team}/devices/${device_id}`);
  await page.getByRole("button", { name: "Ask for a snap" }).click();
  await page.getByText("Asked. The snap comes").waitFor();
  await page.locator("canvas[data-drawn=yes]").first().waitFor({ state: "attached" });
  await look("device-with-snaps");
}

async function settings(page: Page, { url, team }: TourStop, look: Look): Promise<void> {
  await page.goto(`${url}/teams/${team}/settings`);
  await look("settings");
  await page.getByLabel("Name").fill("\u200b");
  await page.getByRole("button", { name: "Save" }).click();
  await look("settings-failed");
  await page.getByRole("button", { name: "Create API key" }).click();
  await page.getByText("Your new API key").waitFor();
  await look("key-created");
  await page.reload();
  await look("key-already-made");
}

async function members(page: Page, { url, team, otherMember }: TourStop, look: Look): Promise<void> {
  await page.goto(`${url}/teams/${team}/members`);
  await look("members");
  await page.getByRole("link", { name: `Remove ${otherMember}` }).click();
  await look("member-remove");
  await page.goto(`${url}/teams/${team}/members`);
  await page.getByRole("button", { name: `Forgotten password of ${otherMember}` }).click();
  await page.getByText("Link to a new password for").waitFor();
  await look("member-password-link");
  await page.getByLabel("Email").fill("new.person@greenhouse.example.org");
  await page.getByRole("button", { name: "Make a link" }).click();
  await page.getByText("Link for new.person").waitFor();
  await look("invitation-made");
  await page.getByLabel("Email").fill(otherMember);
  await page.getByRole("button", { name: "Make a link" }).click();
  await page.getByText("is in the team already").waitFor();
  await look("invitation-not-made");
}
