/** API keys of a team, a part of its settings: new ones (shown once), rotation, revocation, last use. */
import { checkNonce, csrfOf, makeNonce } from "../auth/cookie.ts";
import type { UserError } from "../core/errors.ts";
import {
  createKey,
  FULL_KEY,
  holds,
  listKeys,
  MAX_KEY_DAYS,
  MAX_OVERLAP_HOURS,
  revokeKey,
  rotateKey,
  type ListedKey,
  type MadeKey,
} from "../nouns/apikey.ts";
import { readScopes, SCOPES, scopeTexts } from "../nouns/key-scope.ts";
import type { Membership } from "../nouns/team.ts";
import { Ago } from "./ago.tsx";
import { redirect, show, type Answer } from "./answer.tsx";
import { curlLine } from "./curl.ts";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { Breakable, ButtonForm, CopyText, Csrf, Message } from "./layout.tsx";
import { sayAt } from "./said.tsx";
import type { Site } from "./site.ts";

type Failed = (visit: Member, problem: UserError) => Promise<Answer>;

/** Registers the forms of API keys. `failed` shows the settings page with the problem. */
export function registerApiKeys(site: Site, guards: Guards, failed: Failed): void {
  const base = "/teams/:team/keys";
  const form = (path: string, work: (visit: Member) => Promise<Answer>): void => {
    guards.member.change(path, work, failed);
    // Redirect a GET of this path, which Enter in the address bar sends after a key was made. The settings page shows
    // no key.
    guards.member.get(path, (visit) => redirect(settingsOf(visit.team)));
  };
  form(base, (visit) => postKey(site, visit));
  form(`${base}/:key/rotate`, (visit) => postRotation(site, visit));
  form(`${base}/:key/revoke`, async (visit) => {
    const { session, team } = visit;
    const { user } = session;
    await revokeKey(site.db, site.now(), user.email, team.id, visit.param("key"), user.id);
    const text = `The key ${visit.param("key")} is revoked. It opens nothing from now on.`;
    return redirect(sayAt(session, settingsOf(team), { text }));
  });
}

const settingsOf = (team: Membership): string => `/teams/${team.id}/settings`;
const newPurpose = (team: Membership): string => `create-key ${team.id}`;
const rotatePurpose = (id: string): string => `rotate-key ${id}`;

async function postKey(site: Site, visit: Member): Promise<Answer> {
  const { team, session, form } = visit;
  const nonce = form("nonce");
  checkNonce(session, newPurpose(team), nonce);
  const days = form("days") === "" ? undefined : Number(form("days"));
  const isFull = form("access") === "full";
  const wanted = isFull ? FULL_KEY : { name: form("name"), scopes: readScopes(form.all("scope")), days };
  return showKey(site, visit, await createKey(site.db, site.now(), session.user, team.id, nonce, wanted));
}

async function postRotation(site: Site, visit: Member): Promise<Answer> {
  const { team, session, form } = visit;
  const [id, nonce] = [visit.param("key"), form("nonce")];
  checkNonce(session, rotatePurpose(id), nonce);
  const wanted = { id, overlapHours: Number(form("hours")) };
  return showKey(site, visit, await rotateKey(site.db, site.now(), session.user, team.id, nonce, wanted));
}

/** Shows a new key. Only this answer contains the key: no address, cookie or later page does. */
function showKey({ baseUrl }: Site, visit: Member, key: MadeKey | undefined): Answer {
  const { team } = visit;
  if (key === undefined) return show(frameOf(visit, "No key to show", "settings"), <KeyAlreadyMade team={team} />, 409);
  const content = <NewKey team={team} apiKey={key.key} id={key.id} baseUrl={baseUrl} />;
  return show(frameOf(visit, "API key created", "settings"), content, 201);
}

/** Section of the settings page with API keys. */
export async function apiKeysOf({ db, now }: Site, visit: Member, problem: UserError | undefined) {
  const { team, session, form } = visit;
  const admin = team.role === "admin";
  const keys = admin ? await listKeys(db, team.id) : [];
  const time = now();
  const typed = (name: string): string => (problem === undefined ? "" : form(name).slice(0, 200));
  return (
    <>
      <h2>API keys</h2>
      <p>
        A full API key gives <strong>administrator access to this team</strong>. A key with scopes opens only what you
        choose. Keep keys on your server: never in a web page, an app or a repository. A key is shown once, when it is
        made.
      </p>
      {admin ? (
        <>
          <NewKeyForms team={team} csrf={csrfOf(session)} nonce={makeNonce(session, newPurpose(team))} typed={typed} />
          {keys.length > 0 && (
            <ul class="list" aria-label="API keys">
              {keys
                .sort((a, b) => Number(holds(b, time)) - Number(holds(a, time)) || b.created_at - a.created_at)
                .map((key) => (
                  <KeyItem apiKey={key} visit={visit} now={time} />
                ))}
            </ul>
          )}
        </>
      ) : (
        <p class="soft">Only administrators of the team see and create API keys.</p>
      )}
    </>
  );
}

interface NewKeyFormsProps {
  readonly team: Membership;
  readonly csrf: string;
  readonly nonce: string;
  readonly typed: (name: string) => string;
}

function NewKeyForms({ team, csrf, nonce, typed }: NewKeyFormsProps) {
  const action = `/teams/${team.id}/keys`;
  const marks = (
    <>
      <Csrf value={csrf} />
      <input type="hidden" name="nonce" value={nonce} />
    </>
  );
  return (
    <>
      <form method="post" action={action}>
        {marks}
        <input type="hidden" name="access" value="full" />
        <button class="main" type="submit">
          Create API key
        </button>
      </form>
      <details open={typed("name") !== "" || typed("days") !== ""}>
        <summary>Create a key with scopes</summary>
        <form method="post" action={action}>
          {marks}
          <div class="line">
            <div>
              <label for="key-name">What it is for</label>
              <input id="key-name" name="name" required maxlength={100} autocomplete="off" value={typed("name")} />
            </div>
            <div>
              <label for="key-days">Days that it holds</label>
              <input id="key-days" name="days" type="number" min={1} max={MAX_KEY_DAYS} value={typed("days") || "90"} />
            </div>
          </div>
          <fieldset>
            <legend>What it may do</legend>
            {SCOPES.map((scope) => (
              <label class="tick">
                <input type="checkbox" name="scope" value={scope} /> {scopeTexts[scope]}
              </label>
            ))}
          </fieldset>
          <p class="actions">
            <button type="submit">Create the key</button>
          </p>
        </form>
      </details>
    </>
  );
}

function KeyItem({ apiKey, visit, now }: { apiKey: ListedKey; visit: Member; now: number }) {
  const { id, name, scopes, made_by, expires_at, last_used_at, revoked_at, replaced_by } = apiKey;
  const { session, team } = visit;
  const csrf = csrfOf(session);
  const isHolding = holds(apiKey, now);
  const state = isHolding
    ? replaced_by === null
      ? "holds"
      : "being replaced"
    : revoked_at === null
      ? "expired"
      : "revoked";
  const base = `/teams/${team.id}/keys/${id}`;
  return (
    <li>
      <div class="what">
        <strong>{name}</strong>
        <span class="soft">
          <code>{id}</code>, by <Breakable text={made_by} />
        </span>
        <span class="soft">{scopes === null ? "full access" : scopes.join(", ")}</span>
      </div>
      <div class="how">
        <span class={`status ${isHolding ? "online" : "offline"}`}>{state}</span>
        <span class="soft">
          {last_used_at === null ? (
            "never used"
          ) : (
            <>
              used <Ago at={last_used_at} now={now} />
            </>
          )}
          {isHolding && expires_at !== null && (
            <>
              , ends <Ago at={expires_at} now={now} />
            </>
          )}
        </span>
      </div>
      <div class="do">
        {isHolding && replaced_by === null && (
          <form method="post" action={`${base}/rotate`}>
            <Csrf value={csrf} />
            <input type="hidden" name="nonce" value={makeNonce(session, rotatePurpose(id))} />
            <label class="tick">
              Old key for{" "}
              <input class="short" name="hours" type="number" min={0} max={MAX_OVERLAP_HOURS} value="24" required />{" "}
              hours
            </label>
            <button type="submit" aria-label={`Rotate ${name}`}>
              Rotate
            </button>
          </form>
        )}
        {isHolding && <ButtonForm action={`${base}/revoke`} csrf={csrf} label="Revoke" name={name} />}
      </div>
    </li>
  );
}

function NewKey(props: { team: Membership; apiKey: string; id: string; baseUrl: string }) {
  return (
    <>
      <Message kind="done">
        <CopyText id="api-key" label="Your new API key" value={props.apiKey} />
        <p>
          <strong>Copy it now: it is not shown again.</strong> Its public id is <code>{props.id}</code>.
        </p>
      </Message>
      <h2>Try it</h2>
      <p>Put the key into the environment of your server as HUB_API_KEY, then:</p>
      <CopyText id="curl-line" label="In a shell of that server" value={curlLine(props.baseUrl)} />
      <p>
        <a href={settingsOf(props.team)}>Back to team settings</a>
      </p>
    </>
  );
}

function KeyAlreadyMade({ team }: { team: Membership }) {
  return (
    <>
      <Message kind="error">
        This form has made its key already, and a key is shown only once. No second key was made.
      </Message>
      <p>If you did not get to copy it: make another one, and revoke the first in the list.</p>
      <p>
        <a href={settingsOf(team)}>Back to team settings</a>
      </p>
    </>
  );
}
