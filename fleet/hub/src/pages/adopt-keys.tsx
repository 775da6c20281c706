/** Adopt keys: lists them, makes new ones (shown once), revokes and deletes them. */
import { checkNonce, csrfOf, makeNonce } from "../auth/cookie.ts";
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
import { redirect, show, type Answer } from "./answer.tsx";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { Breakable, ButtonForm, Csrf } from "./layout.tsx";
import { NewAdoptKey } from "./new-adopt-key.tsx";
import { Notices, sayAt } from "./said.tsx";
import type { Site } from "./site.ts";

export function registerAdoptKeys(site: Site, guards: Guards): void {
  const { db, now } = site;
  const base = "/teams/:team/adopt-keys";
  const form = (path: string, work: (visit: Member) => Promise<Answer>): void => {
    guards.member.change(
      path,
      (visit) => work(visit),
      (visit, problem) => keysPage(site, visit, problem),
    );
    if (path !== base) guards.member.get(path, (visit) => redirect(addressOf(visit)));
  };
  const answerWith = (visit: Member, text: string): Answer =>
    redirect(sayAt(visit.session, addressOf(visit), { text }));

  guards.member.get(base, (visit) => keysPage(site, visit));
  form(base, (visit) => postKey(site, visit));
  form(`${base}/:key/revoke`, async (visit) => {
    const { session, team } = visit;
    const { name } = await revokeAdoptKey(db, now(), session.user.email, team.id, visit.param("key"));
    return answerWith(visit, `${name} is revoked. Devices that enrolled with it are not touched.`);
  });
  form(`${base}/:key/delete`, async (visit) => {
    const { session, team } = visit;
    const { name } = await deleteAdoptKey(db, now(), session.user.email, team.id, visit.param("key"));
    return answerWith(visit, `${name} is deleted. Devices that enrolled with it are not touched.`);
  });
}

const addressOf = ({ team }: Member): string => `/teams/${team.id}/adopt-keys`;
const PURPOSE = "adopt key";

async function postKey(site: Site, visit: Member): Promise<Answer> {
  const { session, team, form } = visit;
  const nonce = form("nonce");
  checkNonce(session, PURPOSE, nonce);
  const made = await createAdoptKey(site.db, site.now(), session.user.email, team.id, nonce, {
    name: form("name"),
    days: Number(form("days")),
    devices: Number(form("devices")),
    groupIds: form.all("group"),
  });
  const content = <NewAdoptKey made={made} baseUrl={site.baseUrl} back={addressOf(visit)} backText="adopt keys" />;
  return show(frameOf(visit, "Adopt key", "adopt-keys"), content, made === undefined ? 409 : 201);
}

async function keysPage({ db, now }: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { team, session, form } = visit;
  const csrf = csrfOf(session);
  const base = addressOf(visit);
  const keys = await listAdoptKeys(db, team.id);
  const typed = (name: string, fallback: string): string =>
    problem === undefined ? fallback : form(name).slice(0, 200);
  return show(
    frameOf(visit, "Adopt keys", "adopt-keys"),
    <>
      <Notices visit={visit} problem={problem} />
      <p class="soft">
        A device enrols with an adopt key, and gets a credential of its own. The key opens nothing else, and is shown
        once.
      </p>
      <NewKeyForm
        base={base}
        csrf={csrf}
        nonce={makeNonce(session, PURPOSE)}
        typed={typed}
        groups={await listGroups(db, team.id)}
        ticked={form.all("group")}
      />
      <p class="count">{keys.length === 0 ? "No adopt keys yet." : countText(keys.length, "adopt key")}</p>
      {keys.length > 0 && (
        <ul class="list" aria-label="Adopt keys">
          {keys.map((key) => (
            <KeyItem adopt={key} base={base} csrf={csrf} now={now()} />
          ))}
        </ul>
      )}
    </>,
    problem?.status ?? 200,
  );
}

interface NewKeyFormProps {
  readonly base: string;
  readonly csrf: string;
  readonly nonce: string;
  readonly typed: (name: string, fallback: string) => string;
  readonly groups: readonly Group[];
  readonly ticked: readonly string[];
}

function NewKeyForm({ base, csrf, nonce, typed, groups, ticked }: NewKeyFormProps) {
  const whole = (name: string, label: string, max: number, fallback: string) => (
    <div>
      <label for={name}>{label}</label>
      <input id={name} name={name} type="number" min={1} max={max} required value={typed(name, fallback)} />
    </div>
  );
  return (
    <form method="post" action={base}>
      <Csrf value={csrf} />
      <input type="hidden" name="nonce" value={nonce} />
      <div class="line">
        <div>
          <label for="name">What it is for</label>
          <input id="name" name="name" required maxlength={100} autocomplete="off" value={typed("name", "")} />
        </div>
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
        <button class="main" type="submit">
          Make adopt key
        </button>
      </p>
    </form>
  );
}

function KeyItem({ adopt, base, csrf, now }: { adopt: AdoptKey; base: string; csrf: string; now: number }) {
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
        {spent === undefined && <ButtonForm action={`${base}/${id}/revoke`} csrf={csrf} label="Revoke" name={name} />}
        {spent !== undefined && <ButtonForm action={`${base}/${id}/delete`} csrf={csrf} label="Delete" name={name} />}
      </div>
    </li>
  );
}
