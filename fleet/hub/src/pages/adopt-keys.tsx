/** Adopt keys: lists them, makes new ones (shown once), revokes and deletes them. */
import { checkNonce, makeNonce } from "../auth/cookie.ts";
import type { UserError } from "../core/errors.ts";
import {
  createAdoptKey,
  deleteAdoptKey,
  listAdoptKeys,
  MAX_ADOPT_DAYS,
  MAX_ADOPT_DEVICES,
  revokeAdoptKey,
  spentBecause,
  type AdoptKey,
} from "../nouns/adoptkey.ts";
import { listGroups, type Group } from "../nouns/group.ts";
import { Ago, countText } from "./ago.tsx";
import type { Answer } from "./answer.tsx";
import { ButtonForm, Field, PostForm, Submit } from "./forms.tsx";
import { changeOf, showPage, type Guards, type Member } from "./guards.tsx";
import { Breakable, List } from "./layout.tsx";
import { NewAdoptKey } from "./new-adopt-key.tsx";
import type { Site } from "./site.ts";

export function registerAdoptKeys(site: Site, guards: Guards): void {
  const { db } = site;
  const base = "/teams/:team/adopt-keys";
  const form = guards.page(base, (visit, problem) => keysPage(site, visit, problem));
  form(base, (visit) => postKey(site, visit));
  form(`${base}/:key/revoke`, async (visit) => {
    const { name } = await revokeAdoptKey(db, changeOf(site, visit), visit.param("key"));
    return `${name} is revoked. Devices that enrolled with it are not touched.`;
  });
  form(`${base}/:key/delete`, async (visit) => {
    const { name } = await deleteAdoptKey(db, changeOf(site, visit), visit.param("key"));
    return `${name} is deleted. Devices that enrolled with it are not touched.`;
  });
}

const addressOf = ({ team }: Member): string => `/teams/${team.id}/adopt-keys`;
const PURPOSE = "adopt key";

async function postKey(site: Site, visit: Member): Promise<Answer> {
  const { session, form } = visit;
  const nonce = form("nonce");
  checkNonce(session, PURPOSE, nonce);
  const made = await createAdoptKey(site.db, changeOf(site, visit), nonce, {
    name: form("name"),
    days: Number(form("days")),
    devices: Number(form("devices")),
    groupIds: form.all("group"),
  });
  const content = <NewAdoptKey made={made} baseUrl={site.baseUrl} back={addressOf(visit)} backText="adopt keys" />;
  return showPage(visit, ["Adopt key", "adopt-keys"], content, { status: made === undefined ? 409 : 201 });
}

async function keysPage({ db, now }: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { team, session, form } = visit;
  const base = addressOf(visit);
  const keys = await listAdoptKeys(db, team.id);
  const typed = (name: string, fallback: string): string =>
    problem === undefined ? fallback : form(name).slice(0, 200);
  const content = (
    <>
      <p class="soft">
        A device enrols with an adopt key, and gets a credential of its own. The key opens nothing else, and is shown
        once.
      </p>
      <NewKeyForm
        {...{ base, typed }}
        nonce={makeNonce(session, PURPOSE)}
        groups={await listGroups(db, team.id)}
        ticked={form.all("group")}
      />
      <p class="count">{keys.length === 0 ? "No adopt keys yet." : countText(keys.length, "adopt key")}</p>
      <List label="Adopt keys">
        {keys.map((key) => (
          <KeyItem adopt={key} base={base} now={now()} />
        ))}
      </List>
    </>
  );
  return showPage(visit, ["Adopt keys", "adopt-keys"], content, { problem });
}

interface NewKeyFormProps {
  readonly base: string;
  readonly nonce: string;
  readonly typed: (name: string, fallback: string) => string;
  readonly groups: readonly Group[];
  readonly ticked: readonly string[];
}

function NewKeyForm({ base, nonce, typed, groups, ticked }: NewKeyFormProps) {
  const whole = (name: string, label: string, max: number, fallback: string) => (
    <Field {...{ name, label, type: "number", min: 1, max, required: true, value: typed(name, fallback) }} />
  );
  return (
    <PostForm action={base} fields={{ nonce }}>
      <div class="line">
        <Field label="What it is for" name="name" required value={typed("name", "")} />
        {whole("days", "Days that it holds", MAX_ADOPT_DAYS, "7")}
        {whole("devices", "Devices at most", MAX_ADOPT_DEVICES, "1")}
      </div>
      {groups.length > 0 && (
        <fieldset>
          <legend>Groups that its devices join</legend>
          {groups.map(({ id, name }) => (
            <label class="tick">
              <input type="checkbox" name="group" value={id} checked={ticked.includes(id)} /> {name}
            </label>
          ))}
        </fieldset>
      )}
      <p class="actions">
        <Submit kind="main">Make adopt key</Submit>
      </p>
    </PostForm>
  );
}

function KeyItem({ adopt, base, now }: { adopt: AdoptKey; base: string; now: number }) {
  const { id, name, used, max_devices, expires_at, created_by, device_id } = adopt;
  const spent = spentBecause(adopt, now);
  return (
    <li>
      <div class="what">
        <strong>{name}</strong>
        <span class="soft">
          <code>{id}</code>, by <Breakable text={created_by} />
          {device_id !== null && ", for one device that is there"}
        </span>
      </div>
      <div class="how">
        <span class={`status ${spent === undefined ? "online" : "offline"}`}>{spent ?? "holds"}</span>
        <span class="soft">
          {used.toLocaleString("en")} of {max_devices.toLocaleString("en")} used
          {spent === undefined && (
            <>
              , ends <Ago at={expires_at} now={now} />
            </>
          )}
        </span>
      </div>
      <div class="do">
        {spent === undefined && <ButtonForm action={`${base}/${id}/revoke`} label="Revoke" name={name} />}
        {spent !== undefined && <ButtonForm action={`${base}/${id}/delete`} label="Delete" name={name} />}
      </div>
    </li>
  );
}
