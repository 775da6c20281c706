/** API keys of a team, a part of its settings: new ones (shown once), rotation, revocation, last use. */
import { checkNonce, makeNonce } from "../auth/cookie.ts";
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
import type { Answer } from "./answer.tsx";
import { curlLine } from "./curl.ts";
import { ButtonForm, Field, PostForm, Submit } from "./forms.tsx";
import { changeOf, showPage, type PageForm, type Member } from "./guards.tsx";
import { Breakable, CopyText, List, ShownOnce } from "./layout.tsx";
import type { Site } from "./site.ts";

/** Registers the forms of API keys on the settings page. */
export function registerApiKeys(site: Site, form: PageForm): void {
  const base = "/teams/:team/keys";
  form(base, (visit) => postKey(site, visit));
  form(`${base}/:key/rotate`, (visit) => postRotation(site, visit));
  form(`${base}/:key/revoke`, async (visit) => {
    await revokeKey(site.db, changeOf(site, visit), visit.param("key"));
    return `The key ${visit.param("key")} is revoked. It opens nothing from now on.`;
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
async function showKey({ db, baseUrl }: Site, visit: Member, key: MadeKey | undefined): Promise<Answer> {
  // Show the key even if the database fails now: it is shown only once.
  const keys = key === undefined ? [] : await listKeys(db, visit.team.id).catch(() => []);
  const { scopes = null } = keys.find(({ id }) => id === key?.id) ?? {};
  const [title, status] = key === undefined ? ["No key to show", 409] : ["API key created", 201];
  const content = (
    <ShownOnce
      {...{ id: "api-key", label: "Your new API key", value: key?.key }}
      {...{ back: settingsOf(visit.team), backText: "team settings" }}
      note={
        <>
          Its public id is <code>{key?.id}</code>.
        </>
      }
    >
      {key === undefined ? (
        <p>If you did not get to copy it: make another one, and revoke the first in the list.</p>
      ) : (
        <>
          <h2>Try it</h2>
          <p>Put the key into the environment of your server as HUB_API_KEY, then:</p>
          <CopyText id="curl-line" label="In a shell of that server" value={curlLine(baseUrl, scopes)} />
        </>
      )}
    </ShownOnce>
  );
  return showPage(visit, [title, "settings"], content, { status });
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
          <NewKeyForms team={team} nonce={makeNonce(session, newPurpose(team))} typed={typed} />
          <List label="API keys">
            {keys
              .sort((a, b) => Number(holds(b, time)) - Number(holds(a, time)) || b.created_at - a.created_at)
              .map((key) => (
                <KeyItem apiKey={key} visit={visit} now={time} />
              ))}
          </List>
        </>
      ) : (
        <p class="soft">Only administrators of the team see and create API keys.</p>
      )}
    </>
  );
}

interface NewKeyFormsProps {
  readonly team: Membership;
  readonly nonce: string;
  readonly typed: (name: string) => string;
}

function NewKeyForms({ team, nonce, typed }: NewKeyFormsProps) {
  const action = `/teams/${team.id}/keys`;
  const days = { type: "number", min: 1, max: MAX_KEY_DAYS, value: typed("days") || "90" };
  return (
    <>
      <PostForm action={action} fields={{ nonce, access: "full" }}>
        <Submit kind="main">Create API key</Submit>
      </PostForm>
      <details open={typed("name") !== "" || typed("days") !== ""}>
        <summary>Create a key with scopes</summary>
        <PostForm action={action} fields={{ nonce }}>
          <div class="line">
            <Field
              {...{ id: "key-name", name: "name", label: "What it is for", required: true, value: typed("name") }}
            />
            <Field {...{ id: "key-days", name: "days", label: "Days that it holds", ...days }} />
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
            <Submit>Create the key</Submit>
          </p>
        </PostForm>
      </details>
    </>
  );
}

function KeyItem({ apiKey, visit, now }: { apiKey: ListedKey; visit: Member; now: number }) {
  const { id, name, scopes, made_by, expires_at, last_used_at, revoked_at, replaced_by } = apiKey;
  const { session, team } = visit;
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
          <PostForm class="line" action={`${base}/rotate`} fields={{ nonce: makeNonce(session, rotatePurpose(id)) }}>
            <Submit aria-label={`Rotate ${name}`}>Rotate</Submit>
            <label class="tick">
              old key for{" "}
              <input class="short" name="hours" type="number" min={0} max={MAX_OVERLAP_HOURS} value="24" required />{" "}
              hours
            </label>
          </PostForm>
        )}
        {isHolding && <ButtonForm action={`${base}/revoke`} label="Revoke" name={name} />}
      </div>
    </li>
  );
}
