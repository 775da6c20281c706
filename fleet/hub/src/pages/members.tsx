/** Members of a team: roles, removal, invitations, and links for forgotten passwords. */
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
import { redirect, type Answer } from "./answer.tsx";
import { ButtonForm, Field, LinkButton, PostForm, Question, Select, Submit } from "./forms.tsx";
import { changeOf, showPage, type Guards, type Member } from "./guards.tsx";
import { Breakable, CopyText, List, Message, Name } from "./layout.tsx";
import type { Site } from "./site.ts";

export function registerMembers(site: Site, guards: Guards): void {
  const { db, now } = site;
  const base = "/teams/:team/members";
  const form = guards.page(base, (visit, problem, open = {}) =>
    membersPage(site, visit, { problem, asked: open["remove"] }),
  );
  form(base, (visit) => postInvitation(site, visit));
  form(`${base}/invitations/:invitation/cancel`, async (visit) => {
    const email = await cancelInvitation(db, changeOf(site, visit), visit.param("invitation"));
    return `The invitation of ${email} is cancelled. Its link does not work any more.`;
  });
  form(`${base}/:user/role`, async (visit) => {
    const role = parseRole(visit.form("role"));
    const target = (await membersOf(db, visit.team.id)).find(({ user_id }) => user_id === visit.param("user"));
    if (target === undefined) throw notInTeam();
    await setRole(db, changeOf(site, visit), target.email, role);
    return `${target.email} is ${role === "admin" ? "an administrator" : `a ${role}`} now.`;
  });
  form(`${base}/:user/password`, async (visit) => {
    const { user } = visit.session;
    const { email, token } = await resetLinkFor(db, now(), user, visit.team.id, visit.param("user"));
    return membersPage(site, visit, { link: { purpose: "reset", email, url: `${site.baseUrl}/link/${token}` } });
  });
  form(`${base}/:user/remove`, async (visit) => {
    const { user } = visit.session;
    const target = visit.param("user");
    const email = await removeMember(db, changeOf(site, visit), target);
    return target === user.id ? redirect("/") : `${email} is not in the team any more.`;
  });
}

async function postInvitation(site: Site, visit: Member): Promise<Answer> {
  const email = cleanEmail(visit.form("email"));
  const role = parseRole(visit.form("role"));
  const token = await invite(site.db, changeOf(site, visit), email, role);
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
  {
    problem,
    link,
    asked,
  }: Pick<Partial<MembersProps>, "link" | "asked"> & { readonly problem?: UserError | undefined },
): Promise<Answer> {
  const { team, session, form } = visit;
  const isAdmin = team.role === "admin";
  const props: MembersProps = {
    team,
    members: await membersOf(db, team.id),
    invitations: isAdmin ? await openInvitations(db, now(), team.id) : [],
    now: now(),
    self: session.user.id,
    link,
    asked,
    // Show the typed values again after a failed invitation.
    typed: problem === undefined ? undefined : { email: form("email").slice(0, 254), role: form("role") },
  };
  const status = link === undefined ? 200 : 201;
  return showPage(visit, ["Members", "members"], <Members {...props} />, { problem, status });
}

interface MembersProps {
  readonly team: Membership;
  readonly members: readonly TeamMember[];
  readonly invitations: readonly Invitation[];
  readonly now: number;
  /** Id of the user who views the page. */
  readonly self: string;
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
      <List label="Members">
        {members.map((member) => (
          <MemberItem member={member} {...props} />
        ))}
      </List>
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
  const { team, members, self, asked } = props;
  const base = `/teams/${team.id}/members`;
  const { user_id: id, email, role } = member;
  const whom = id === self ? "yourself" : "them";
  const isLastAdmin = role === "admin" && members.filter((other) => other.role === "admin").length === 1;
  if (asked === id && team.role === "admin" && !isLastAdmin)
    return (
      <li id={`member-${id}`} class="open">
        <Question
          {...{ action: `${base}/${id}/remove`, back: base }}
          {...{ button: `Remove ${whom}`, keep: `Keep ${whom}` }}
        >
          Remove <Name text={email} /> from the team? Invitations they made end too. API keys they made are the team's
          and stay: have those revoked by whoever runs this hub.
        </Question>
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
  const { team, self, member, isLastAdmin } = props;
  const { user_id: id, email, role } = member;
  const base = `/teams/${team.id}/members`;
  if (isLastAdmin) return <p class="soft">The last administrator stays.</p>;
  return (
    <div class="do">
      {ROLES.filter((other) => other !== role).map((other) => (
        <PostForm action={`${base}/${id}/role`} fields={{ role: other }}>
          <Submit aria-label={`Make ${roleNames[other].toLowerCase()}: ${email}`}>
            Make {roleNames[other].toLowerCase()}
          </Submit>
        </PostForm>
      ))}
      {id !== self && <ButtonForm action={`${base}/${id}/password`} label="Forgotten password" name={`of ${email}`} />}
      <LinkButton href={`${base}?remove=${id}#member-${id}`} label="Remove" name={email} />
    </div>
  );
}

function Invitations({ team, invitations, now }: MembersProps) {
  if (invitations.length === 0) return <></>;
  return (
    <>
      <h2>Open invitations</h2>
      <List label="Open invitations">
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
            <ButtonForm
              {...{ class: "do", action: `/teams/${team.id}/members/invitations/${hash}/cancel`, label: "Cancel" }}
              name={`the invitation of ${email}`}
            />
          </li>
        ))}
      </List>
    </>
  );
}

function endOf(ms: number): string {
  const hours = Math.round(ms / 3600_000);
  return hours < 1 ? "within the hour" : hours === 1 ? "in an hour" : `in ${hours} hours`;
}

function Invite({ team, typed }: MembersProps) {
  const choices = [
    ["member", "Member: devices"],
    ["viewer", "Viewer: sees everything, changes nothing"],
    ["admin", "Administrator: also API keys and members"],
  ] as const;
  return (
    <>
      <h2>Invite someone</h2>
      <PostForm action={`/teams/${team.id}/members`} class="line">
        <Field
          {...{ id: "invite-email", name: "email", label: "Email", type: "email", maxlength: 254, required: true }}
          value={typed?.email ?? ""}
        />
        <Select {...{ id: "invite-role", name: "role", label: "Role", choices, value: typed?.role }} />
        <Submit kind="main">Make a link</Submit>
      </PostForm>
    </>
  );
}
