/** Settings of a team: its name, and new API keys. */
import { checkNonce, csrfOf, makeNonce } from "../auth/cookie.ts";
import type { UserError } from "../core/errors.ts";
import { createKey } from "../nouns/apikey.ts";
import { renameTeam, type Membership } from "../nouns/team.ts";
import { redirect, show, type Answer } from "./answer.tsx";
import { curlLine } from "./curl.ts";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { CopyText, Csrf, Message } from "./layout.tsx";
import { NameForm } from "./name-form.tsx";
import { Notices, sayAt } from "./said.tsx";
import type { Site } from "./site.ts";

export function registerSettings(site: Site, guards: Guards): void {
  guards.member.get("/teams/:team/settings", (visit) => settingsPage(visit));
  guards.member.change(
    "/teams/:team/settings",
    async (visit) => {
      const { user } = visit.session;
      const { name } = await renameTeam(site.db, site.now(), user.email, user.id, visit.team.id, visit.form("name"));
      return redirect(sayAt(visit.session, `/teams/${visit.team.id}/settings`, { text: `Renamed to ${name}.` }));
    },
    (visit, problem) => settingsPage(visit, problem),
  );
  // For Enter in the address bar after a key was made: the page that its form belongs to. It shows no key.
  guards.member.get("/teams/:team/keys", (visit) => redirect(`/teams/${visit.team.id}/settings`));
  guards.member.post("/teams/:team/keys", (visit) => postKey(site, visit));
}

const keyPurpose = (team: Membership): string => `create-key ${team.id}`;

async function postKey(site: Site, visit: Member): Promise<Answer> {
  const { team, session, form } = visit;
  const nonce = form("nonce");
  checkNonce(session, keyPurpose(team), nonce);
  const key = await createKey(site.db, site.now(), session.user, team.id, nonce);
  // The key travels in this answer and nowhere else: no redirect, no address, no cookie, no second look.
  if (key === undefined) return show(frameOf(visit, "No key to show", "settings"), <KeyAlreadyMade team={team} />, 409);
  const content = <NewKey team={team} apiKey={key.key} id={key.id} baseUrl={site.baseUrl} />;
  return show(frameOf(visit, "API key created", "settings"), content, 201);
}

function settingsPage(visit: Member, problem?: UserError): Answer {
  const { team, session, form } = visit;
  const nonce = makeNonce(session, keyPurpose(team));
  return show(
    frameOf(visit, "Team settings", "settings"),
    <>
      <Notices visit={visit} problem={problem} />
      <Settings
        team={team}
        csrf={csrfOf(session)}
        nonce={nonce}
        typed={problem === undefined ? team.name : form("name").slice(0, 200)}
      />
    </>,
    problem?.status ?? 200,
  );
}

function Settings(props: { team: Membership; csrf: string; nonce: string; typed: string }) {
  const base = `/teams/${props.team.id}`;
  const admin = props.team.role === "admin";
  return (
    <>
      <h2>API keys</h2>
      <p>
        An API key gives <strong>full administrator access to this team</strong>. Keep it on your server: never in a web
        page, an app or a repository.
      </p>
      <p>
        The key is shown once, when it is made. Keys cannot be listed or looked at afterwards. To have one revoked, ask
        whoever runs this hub and name its public id, the 12 characters behind <code>hub_</code>.
      </p>
      {admin ? (
        <form method="post" action={`${base}/keys`}>
          <Csrf value={props.csrf} />
          <input type="hidden" name="nonce" value={props.nonce} />
          <button class="main" type="submit">
            Create API key
          </button>
        </form>
      ) : (
        <p class="soft">Only administrators of the team create API keys.</p>
      )}
      <h2>Team name</h2>
      {admin ? (
        <NameForm
          {...{ action: `${base}/settings`, csrf: props.csrf, id: "team-name", label: "Name", button: "Save" }}
          value={props.typed}
          isMain={false}
        />
      ) : (
        <p>{props.team.name}</p>
      )}
    </>
  );
}

function NewKey(props: { team: Membership; apiKey: string; id: string; baseUrl: string }) {
  return (
    <>
      <Message kind="done">
        <CopyText id="api-key" label="Your new API key" value={props.apiKey} />
        <p>
          <strong>Copy it now: it is not shown again.</strong> Its public id, for support, is <code>{props.id}</code>.
        </p>
      </Message>
      <h2>Try it</h2>
      <p>Put the key into the environment of your server as HUB_API_KEY, then:</p>
      <CopyText id="curl-line" label="In a shell of that server" value={curlLine(props.baseUrl)} />
      <p>
        <a href={`/teams/${props.team.id}/settings`}>Back to team settings</a>
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
      <p>
        If you did not get to copy it: make another one, and have the first revoked by whoever runs this hub (its public
        id is in the audit log).
      </p>
      <p>
        <a href={`/teams/${team.id}/settings`}>Back to team settings</a>
      </p>
    </>
  );
}
