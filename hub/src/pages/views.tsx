/** What each page shows. Only markup: what may be shown is decided in app.tsx. */
import type { Device } from "../nouns/device.ts";
import type { Link } from "../nouns/link.ts";
import type { Member, Membership } from "../nouns/team.ts";
import { MAX_PASSWORD, MIN_PASSWORD } from "../nouns/text.ts";
import { CopyField, Message } from "./layout.tsx";

export function Csrf({ value }: { value: string }) {
  return <input type="hidden" name="csrf" value={value} />;
}

export function SignIn({ email = "", problem }: { email?: string; problem?: string | undefined }) {
  return (
    <>
      {problem !== undefined && <Message kind="error">{problem}</Message>}
      <form method="post" action="/sign-in">
        <label for="email">Email</label>
        <input id="email" name="email" type="email" autocomplete="username" required value={email} />
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required />
        <p class="actions">
          <button class="main" type="submit">
            Sign in
          </button>
        </p>
      </form>
      <p class="soft">No account, or the password forgotten? An administrator of your team, or whoever runs this hub, gives you a link.</p>
    </>
  );
}

export function OpenLink({ link, token, hasAccount, problem }: { link: Link; token: string; hasAccount: boolean; problem?: string | undefined }) {
  const joining = link.purpose === "invite";
  return (
    <>
      {problem !== undefined && <Message kind="error">{problem}</Message>}
      <p>
        {joining ? (
          <>
            <strong>{link.email}</strong> is invited to the team <strong>{link.team_name}</strong>
            {link.role === "admin" ? " as an administrator." : "."}
          </>
        ) : (
          <>
            A new password for <strong>{link.email}</strong>. All sessions of this account will end.
          </>
        )}
      </p>
      <form method="post" action={`/link/${token}`}>
        <input class="hidden" type="email" name="email" autocomplete="username" value={link.email} readonly tabindex={-1} aria-hidden="true" />
        <label for="password">{joining && hasAccount ? "Your password" : `Choose a password (${MIN_PASSWORD} characters or more)`}</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete={joining && hasAccount ? "current-password" : "new-password"}
          minlength={joining && hasAccount ? undefined : MIN_PASSWORD}
          maxlength={MAX_PASSWORD}
          required
        />
        <p class="actions">
          <button class="main" type="submit">
            {joining ? "Join and sign in" : "Set the password and sign in"}
          </button>
        </p>
      </form>
    </>
  );
}

export function Teams({ teams }: { teams: readonly Membership[] }) {
  if (teams.length === 0) return <p>This account is in no team. An administrator of a team can invite you.</p>;
  return (
    <ul class="list">
      {teams.map((team) => (
        <li>
          <a href={`/teams/${team.id}/devices`}>{team.name}</a> <span class="soft">{team.role}</span>
        </li>
      ))}
    </ul>
  );
}

export function Devices(props: {
  team: Membership;
  devices: readonly Device[];
  next: string | undefined;
  csrf: string;
  problem?: string | undefined;
  name?: string;
}) {
  const base = `/teams/${props.team.id}/devices`;
  return (
    <>
      {props.problem !== undefined && <Message kind="error">{props.problem}</Message>}
      <form method="post" action={base} class="panel">
        <Csrf value={props.csrf} />
        <div class="row">
          <div>
            <label for="name">Name of the new device</label>
            <input id="name" name="name" required maxlength={100} autocomplete="off" value={props.name ?? ""} />
          </div>
          <button class="main" type="submit">
            Add device
          </button>
        </div>
      </form>
      {props.devices.length === 0 ? (
        <p>No devices {props.next === undefined ? "yet" : "here"}.</p>
      ) : (
        <ul class="list" aria-label="Devices">
          {props.devices.map((device) => (
            <li>
              <div class="what">
                <strong>{device.name}</strong>
                <br />
                <code class="soft">{device.id}</code>
              </div>
              <form method="post" action={`${base}/${device.id}/rename`}>
                <Csrf value={props.csrf} />
                <input name="name" aria-label={`New name for ${device.name}`} required maxlength={100} autocomplete="off" value={device.name} />
                <button type="submit" aria-label={`Rename ${device.name}`}>
                  Rename
                </button>
              </form>
              <form method="post" action={`${base}/${device.id}/remove`}>
                <Csrf value={props.csrf} />
                <button class="danger" type="submit" aria-label={`Remove ${device.name}`}>
                  Remove
                </button>
              </form>
            </li>
          ))}
        </ul>
      )}
      {props.next !== undefined && (
        <p>
          <a href={`${base}?after=${encodeURIComponent(props.next)}`}>More devices</a>
        </p>
      )}
    </>
  );
}

export function Settings(props: { team: Membership; csrf: string; nonce: string; problem?: string | undefined }) {
  const base = `/teams/${props.team.id}`;
  const admin = props.team.role === "admin";
  return (
    <>
      {props.problem !== undefined && <Message kind="error">{props.problem}</Message>}
      <h2>API keys</h2>
      <p>
        An API key gives <strong>full administrator access to this team</strong>. Keep it on your server: never in a web page, an app or a repository.
      </p>
      <p>
        The key is shown once, when it is made. Keys cannot be listed or looked at afterwards. To have one revoked, ask whoever runs this hub and name its
        public id, the 12 characters behind <code>hub_</code>.
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
        <form method="post" action={`${base}/settings`}>
          <Csrf value={props.csrf} />
          <div class="row">
            <div>
              <label for="team-name">Name</label>
              <input id="team-name" name="name" required maxlength={100} autocomplete="off" value={props.team.name} />
            </div>
            <button type="submit">Save</button>
          </div>
        </form>
      ) : (
        <p>{props.team.name}</p>
      )}
    </>
  );
}

export function NewKey(props: { team: Membership; apiKey: string; id: string; baseUrl: string }) {
  return (
    <>
      <Message kind="done">
        <CopyField id="api-key" label="Your new API key" value={props.apiKey} />
        <p>
          <strong>Copy it now: it is not shown again.</strong> Its public id, for support, is <code>{props.id}</code>.
        </p>
      </Message>
      <h2>Try it</h2>
      <p>Put the key into the environment of your server as HUB_API_KEY, then:</p>
      <pre tabindex={0}>
        <code>{curlLine(props.baseUrl)}</code>
      </pre>
      <p>
        <a href={`/teams/${props.team.id}/settings`}>Back to team settings</a>
      </p>
    </>
  );
}

export function curlLine(baseUrl: string): string {
  return `curl ${baseUrl}/graphql -H "Authorization: Bearer $HUB_API_KEY" -H "Content-Type: application/json" -d '{"query":"query { team { devices { nodes { id name } } } }"}'`;
}

export function KeyAlreadyMade({ team }: { team: Membership }) {
  return (
    <>
      <Message kind="error">This form has made its key already, and a key is shown only once. No second key was made.</Message>
      <p>If you did not get to copy it: make another one, and have the first revoked by whoever runs this hub (its public id is in the audit log).</p>
      <p>
        <a href={`/teams/${team.id}/settings`}>Back to team settings</a>
      </p>
    </>
  );
}

export function Members(props: {
  team: Membership;
  members: readonly Member[];
  self: string;
  csrf: string;
  link?: { email: string; url: string } | undefined;
  problem?: string | undefined;
}) {
  const base = `/teams/${props.team.id}/members`;
  const admin = props.team.role === "admin";
  return (
    <>
      {props.problem !== undefined && <Message kind="error">{props.problem}</Message>}
      {props.link !== undefined && (
        <Message kind="done">
          <CopyField id="invite-link" label={`Link for ${props.link.email}`} value={props.link.url} />
          <p>Send it to them yourself. It works once, for a day, and is not shown again.</p>
        </Message>
      )}
      <ul class="list" aria-label="Members">
        {props.members.map((member) => (
          <li>
            <div class="what">
              {member.email}
              {member.user_id === props.self && <span class="soft"> (you)</span>}
              <br />
              <span class="soft">{member.role === "admin" ? "Administrator" : "Member"}</span>
            </div>
            {admin && (
              <form method="post" action={`${base}/${member.user_id}/remove`}>
                <Csrf value={props.csrf} />
                <button class="danger" type="submit" aria-label={`Remove ${member.email}`}>
                  Remove
                </button>
              </form>
            )}
          </li>
        ))}
      </ul>
      {admin ? (
        <>
          <p class="soft">
            Removing someone also ends the invitations they made. API keys they made are the team's and stay: have those revoked by whoever runs this hub.
          </p>
          <h2>Invite someone</h2>
          <form method="post" action={base}>
            <Csrf value={props.csrf} />
            <div class="row">
              <div>
                <label for="invite-email">Email</label>
                <input id="invite-email" name="email" type="email" required autocomplete="off" />
              </div>
              <div>
                <label for="invite-role">Role</label>
                <select id="invite-role" name="role">
                  <option value="member">Member: sees and edits devices</option>
                  <option value="admin">Administrator: also API keys and members</option>
                </select>
              </div>
              <button class="main" type="submit">
                Make a link
              </button>
            </div>
          </form>
        </>
      ) : (
        <p class="soft">Only administrators of the team invite and remove members.</p>
      )}
    </>
  );
}

export function Account({ email, csrf, problem, done }: { email: string; csrf: string; problem?: string | undefined; done?: boolean }) {
  return (
    <>
      {problem !== undefined && <Message kind="error">{problem}</Message>}
      {done === true && <Message kind="done">The password is changed. Every other session of this account has ended.</Message>}
      <p>
        Signed in as <strong>{email}</strong>.
      </p>
      <h2>Change the password</h2>
      <form method="post" action="/account">
        <Csrf value={csrf} />
        <input class="hidden" type="email" name="email" autocomplete="username" value={email} readonly tabindex={-1} aria-hidden="true" />
        <label for="current">Current password</label>
        <input id="current" name="current" type="password" autocomplete="current-password" required />
        <label for="password">New password ({MIN_PASSWORD} characters or more)</label>
        <input id="password" name="password" type="password" autocomplete="new-password" required minlength={MIN_PASSWORD} maxlength={MAX_PASSWORD} />
        <p class="actions">
          <button class="main" type="submit">
            Change the password
          </button>
        </p>
      </form>
    </>
  );
}
