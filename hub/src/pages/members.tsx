/** Members of a team: the list, invitations, removal. */
import { csrfOf } from "../auth/session.ts";
import type { UserError } from "../core/errors.ts";
import type { Router } from "../http/router.ts";
import { parseRole } from "../nouns/role.ts";
import { membersOf, removeMember, type Member as TeamMember, type Membership } from "../nouns/team.ts";
import { cleanEmail } from "../nouns/text.ts";
import { invite } from "../nouns/user.ts";
import { redirect, show, type Answer } from "./answer.tsx";
import { attempt } from "./attempt.ts";
import { frameOf, type Guards, type Member } from "./guards.tsx";
import { CopyField, Csrf, Message } from "./layout.tsx";
import type { Site } from "./site.ts";

export function registerMembers(router: Router, site: Site, guards: Guards): void {
  router.get(
    "/teams/:team/members",
    guards.member((visit) => membersPage(site, visit)),
  );
  router.post(
    "/teams/:team/members",
    guards.member((visit) =>
      attempt(
        () => postInvitation(site, visit),
        (problem) => membersPage(site, visit, { problem }),
      ),
    ),
  );
  router.post(
    "/teams/:team/members/:user/remove",
    guards.member((visit) =>
      attempt(
        async () => {
          const { user } = visit.session;
          const target = visit.param("user");
          await removeMember(site.db, site.now(), user.email, user.id, visit.team.id, target);
          return redirect(target === user.id ? "/" : `/teams/${visit.team.id}/members`);
        },
        (problem) => membersPage(site, visit, { problem }),
      ),
    ),
  );
}

async function postInvitation(site: Site, visit: Member): Promise<Answer> {
  const { user } = visit.session;
  const email = cleanEmail(visit.form("email"));
  const role = parseRole(visit.form("role"));
  const token = await invite(site.db, site.now(), user.email, user.id, visit.team.id, email, role);
  return membersPage(site, visit, { link: { email, url: `${site.baseUrl}/link/${token}` } });
}

interface Extra {
  readonly problem?: UserError;
  readonly link?: { readonly email: string; readonly url: string };
}

async function membersPage({ db }: Site, visit: Member, { problem, link }: Extra = {}): Promise<Answer> {
  const { team, session } = visit;
  return show(
    frameOf(visit, "Members", "members"),
    <Members
      team={team}
      members={await membersOf(db, team.id)}
      self={session.user.id}
      csrf={csrfOf(session)}
      link={link}
      problem={problem?.message}
    />,
    problem?.status ?? (link === undefined ? 200 : 201),
  );
}

function Members(props: {
  team: Membership;
  members: readonly TeamMember[];
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
        <Invite base={base} csrf={props.csrf} />
      ) : (
        <p class="soft">Only administrators of the team invite and remove members.</p>
      )}
    </>
  );
}

function Invite({ base, csrf }: { base: string; csrf: string }) {
  return (
    <>
      <p class="soft">
        Removing someone also ends the invitations they made. API keys they made are the team's and stay: have those
        revoked by whoever runs this hub.
      </p>
      <h2>Invite someone</h2>
      <form method="post" action={base}>
        <Csrf value={csrf} />
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
  );
}
