/** Members of a team: roles, removal, invitations, and links for forgotten passwords. */
import { csrfOf } from "../auth/cookie.ts";
import type { UserError } from "../core/errors.ts";
import { cancelInvitation, openInvitations, type Invitation } from "../nouns/invitation.ts";
import { parseRole, roleNames, ROLES } from "../nouns/role.ts";
import {
  membersOf,
  notInTeam,
  removeMember,
  setRole,
  type Member as TeamMember,
  type Membership,
} from "../nouns/team.ts";
import { cleanEmail } from "../nouns/text.ts";
import { invite, resetLinkFor } from "../nouns/user.ts";
import { redirect, show, type Answer } from "./answer.tsx";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { Breakable, CopyText, Csrf, Message } from "./layout.tsx";
import { Notices, sayAt } from "./said.tsx";
import type { Site } from "./site.ts";

export function registerMembers(site: Site, guards: Guards): void {
  const { db, now } = site;
  const base = "/teams/:team/members";
  const form = (path: string, work: (visit: Member) => Promise<Answer>): void => {
    guards.member.change(path, work, (visit, problem) => membersPage(site, visit, { problem }));
    // A GET of a form's path, which Enter in the address bar sends, leads to the page with the form.
    if (path !== base) guards.member.get(path, (visit) => redirect(`/teams/${visit.team.id}/members`));
  };
  const answerWith = (visit: Member, text: string): Answer =>
    redirect(sayAt(visit.session, `/teams/${visit.team.id}/members`, { text }));

  guards.member.get(base, (visit) => membersPage(site, visit));
  form(base, (visit) => postInvitation(site, visit));
  form(`${base}/invitations/:invitation/cancel`, async (visit) => {
    const { user } = visit.session;
    const email = await cancelInvitation(db, now(), user.email, user.id, visit.team.id, visit.param("invitation"));
    return answerWith(visit, `The invitation of ${email} is cancelled. Its link does not work any more.`);
  });
  form(`${base}/:user/role`, async (visit) => {
    const { user } = visit.session;
    const role = parseRole(visit.form("role"));
    const target = (await membersOf(db, visit.team.id)).find(({ user_id }) => user_id === visit.param("user"));
    if (target === undefined) throw notInTeam();
    await setRole(db, now(), user.email, user.id, visit.team.id, target.email, role);
    return answerWith(visit, `${target.email} is ${role === "admin" ? "an administrator" : `a ${role}`} now.`);
  });
  form(`${base}/:user/password`, async (visit) => {
    const { user } = visit.session;
    const { email, token } = await resetLinkFor(db, now(), user, visit.team.id, visit.param("user"));
    return membersPage(site, visit, { link: { purpose: "reset", email, url: `${site.baseUrl}/link/${token}` } });
  });
  form(`${base}/:user/remove`, async (visit) => {
    const { user } = visit.session;
    const target = visit.param("user");
    const email = await removeMember(db, now(), user.email, user.id, visit.team.id, target);
    return target === user.id ? redirect("/") : answerWith(visit, `${email} is not in the team any more.`);
  });
}

async function postInvitation(site: Site, visit: Member): Promise<Answer> {
  const { user } = visit.session;
  const email = cleanEmail(visit.form("email"));
  const role = parseRole(visit.form("role"));
  const token = await invite(site.db, site.now(), user.email, user.id, visit.team.id, email, role);
  return membersPage(site, visit, { link: { purpose: "invite", email, url: `${site.baseUrl}/link/${token}` } });
}

/** A link that was just made. Only the answer to this request shows the link. */
interface NewLink {
  readonly purpose: "invite" | "reset";
  readonly email: string;
  readonly url: string;
}

async function membersPage(
  { db, now }: Site,
  visit: Member,
  { problem, link }: { readonly problem?: UserError; readonly link?: NewLink } = {},
): Promise<Answer> {
  const { team, session, exchange, form } = visit;
  const isAdmin = team.role === "admin";
  const props: MembersProps = {
    team,
    members: await membersOf(db, team.id),
    invitations: isAdmin ? await openInvitations(db, now(), team.id) : [],
    now: now(),
    self: session.user.id,
    csrf: csrfOf(session),
    link,
    asked: new URLSearchParams(exchange.search).get("remove") ?? undefined,
    // Show the typed values again after a failed invitation.
    typed: problem === undefined ? undefined : { email: form("email").slice(0, 254), role: form("role") },
  };
  const status = problem?.status ?? (link === undefined ? 200 : 201);
  return show(
    frameOf(visit, "Members", "members"),
    <>
      <Notices visit={visit} problem={problem} />
      <Members {...props} />
    </>,
    status,
  );
}

interface MembersProps {
  readonly team: Membership;
  readonly members: readonly TeamMember[];
  readonly invitations: readonly Invitation[];
  readonly now: number;
  /** Id of the user who views the page. */
  readonly self: string;
  readonly csrf: string;
  readonly link: NewLink | undefined;
  /** Id of the member that the user is about to remove: the page asks for confirmation. */
  readonly asked: string | undefined;
  readonly typed: { readonly email: string; readonly role: string } | undefined;
}

function Members(props: MembersProps) {
  const { team, members, link } = props;
  return (
    <>
      {link !== undefined && <MadeLink link={link} />}
      <ul class="list" aria-label="Members">
        {members.map((member) => (
          <MemberItem member={member} {...props} />
        ))}
      </ul>
      {team.role === "admin" ? (
        <>
          <Invitations {...props} />
          <Invite {...props} />
        </>
      ) : (
        <p class="soft">Only administrators of the team invite people, change roles and remove members.</p>
      )}
    </>
  );
}

function MadeLink({ link: { purpose, email, url } }: { link: NewLink }) {
  const what = purpose === "invite" ? "Link for" : "Link to a new password for";
  return (
    <Message kind="done">
      <CopyText id="made-link" label={`${what} ${email}`} value={url} />
      <p>
        <strong>Send it to them yourself.</strong> It works once, for a day, and is not shown again.
      </p>
    </Message>
  );
}

function MemberItem({ member, ...props }: MembersProps & { readonly member: TeamMember }) {
  const { team, members, self, csrf, asked } = props;
  const base = `/teams/${team.id}/members`;
  const { user_id: id, email, role } = member;
  const isLastAdmin = role === "admin" && members.filter((other) => other.role === "admin").length === 1;
  if (asked === id && team.role === "admin" && !isLastAdmin)
    return (
      <li id={`member-${id}`} class="open">
        <form method="post" action={`${base}/${id}/remove`} class="question">
          <Csrf value={csrf} />
          <p>
            Remove{" "}
            <strong>
              <Breakable text={email} />
            </strong>{" "}
            from the team? Invitations they made end too. API keys they made are the team's and stay: have those revoked
            by whoever runs this hub.
          </p>
          <button class="danger" type="submit">
            Remove {id === self ? "yourself" : "them"}
          </button>
          <a class="button" href={base}>
            Keep {id === self ? "yourself" : "them"}
          </a>
        </form>
      </li>
    );
  return (
    <li id={`member-${id}`}>
      <div class="what">
        <span>
          <Breakable text={email} />
          {id === self && <span class="soft"> (you)</span>}
        </span>
        <span class="soft">{roleNames[role]}</span>
      </div>
      {team.role === "admin" && <MemberActions member={member} isLastAdmin={isLastAdmin} {...props} />}
    </li>
  );
}

function MemberActions(props: MembersProps & { readonly member: TeamMember; readonly isLastAdmin: boolean }) {
  const { team, self, csrf, member, isLastAdmin } = props;
  const { user_id: id, email, role } = member;
  const base = `/teams/${team.id}/members`;
  if (isLastAdmin) return <p class="soft">The last administrator stays.</p>;
  return (
    <div class="do">
      {ROLES.filter((other) => other !== role).map((other) => (
        <form method="post" action={`${base}/${id}/role`}>
          <Csrf value={csrf} />
          <input type="hidden" name="role" value={other} />
          <button type="submit" aria-label={`Make ${roleNames[other].toLowerCase()}: ${email}`}>
            Make {roleNames[other].toLowerCase()}
          </button>
        </form>
      ))}
      {id !== self && (
        <form method="post" action={`${base}/${id}/password`}>
          <Csrf value={csrf} />
          <button type="submit" aria-label={`Forgotten password of ${email}`}>
            Forgotten password
          </button>
        </form>
      )}
      <a class="button" href={`${base}?remove=${id}#member-${id}`} aria-label={`Remove ${email}`}>
        Remove
      </a>
    </div>
  );
}

function Invitations({ team, invitations, now, csrf }: MembersProps) {
  if (invitations.length === 0) return <></>;
  return (
    <>
      <h2>Open invitations</h2>
      <ul class="list" aria-label="Open invitations">
        {invitations.map(({ hash, email, role, made_by, expires_at }) => (
          <li>
            <div class="what">
              <span>
                <Breakable text={email} />
              </span>
              <span class="soft">
                {roleNames[role]}, invited by <Breakable text={made_by ?? "whoever runs this hub"} />, ends{" "}
                {endOf(expires_at - now)}
              </span>
            </div>
            <form class="do" method="post" action={`/teams/${team.id}/members/invitations/${hash}/cancel`}>
              <Csrf value={csrf} />
              <button type="submit" aria-label={`Cancel the invitation of ${email}`}>
                Cancel
              </button>
            </form>
          </li>
        ))}
      </ul>
    </>
  );
}

function endOf(ms: number): string {
  const hours = Math.round(ms / 3600_000);
  return hours < 1 ? "within the hour" : hours === 1 ? "in an hour" : `in ${hours} hours`;
}

function Invite({ team, csrf, typed }: MembersProps) {
  return (
    <>
      <h2>Invite someone</h2>
      <form method="post" action={`/teams/${team.id}/members`} class="line">
        <Csrf value={csrf} />
        <div>
          <label for="invite-email">Email</label>
          <input id="invite-email" name="email" type="email" required autocomplete="off" value={typed?.email ?? ""} />
        </div>
        <div>
          <label for="invite-role">Role</label>
          <select id="invite-role" name="role">
            <option value="member">Member: devices</option>
            <option value="viewer" selected={typed?.role === "viewer"}>
              Viewer: sees everything, changes nothing
            </option>
            <option value="admin" selected={typed?.role === "admin"}>
              Administrator: also API keys and members
            </option>
          </select>
        </div>
        <button class="main" type="submit">
          Make a link
        </button>
      </form>
    </>
  );
}
