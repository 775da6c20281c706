/** One-time links: joining a team, or choosing a new password. */
import { UserError } from "../core/errors.ts";
import { readLink, type Link } from "../nouns/link.ts";
import { MAX_PASSWORD, MIN_PASSWORD } from "../nouns/text.ts";
import { findUser, useLink } from "../nouns/user.ts";
import { countText } from "./ago.tsx";
import { redirect, show, type Answer } from "./answer.tsx";
import { readForm } from "./form.ts";
import type { Guards, Visit } from "./guards.tsx";
import { AccountName, PasswordField, PostForm, Submit } from "./forms.tsx";
import { Message, Name } from "./layout.tsx";
import { tryPassword } from "./new-password.ts";
import { sayAt } from "./said.ts";
import { beginSession, takeKnownSignIn, type Site } from "./site.ts";

export function registerLink(site: Site, guards: Guards): void {
  guards.open.get("/link/:token", async ({ param }) => {
    const link = await readLink(site.db, site.now(), param("token"));
    if (link === undefined) return linkGone();
    const user = await findUser(site.db, link.email);
    return linkPage(link, param("token"), user !== undefined);
  });
  guards.open.post("/link/:token", (visit) => openLink(site, visit));
}

async function openLink(site: Site, { exchange, param, token: sessionToken }: Visit): Promise<Answer> {
  const { db, now, passwords } = site;
  const token = param("token");
  const link = await readLink(db, now(), token);
  if (link === undefined) return linkGone();
  const existing = await findUser(db, link.email);
  const again = (problem: string, status: number, headers = {}): Answer => ({
    ...linkPage(link, token, existing !== undefined, problem, status),
    headers,
  });
  const wait = takeKnownSignIn(site, `link of ${link.email}`);
  if (wait > 0)
    return again(`Too many tries. Try again in ${countText(wait, "second")}.`, 429, { "retry-after": String(wait) });
  const given = (await readForm(exchange))("password");
  let hash: string | undefined;
  if (link.purpose === "invite" && existing !== undefined) {
    if (!(await passwords.verify(given.slice(0, MAX_PASSWORD * 2), existing.password)))
      return again("This is not the password of the account.", 401);
  } else {
    const password = await tryPassword(given, [link.email, link.team_name ?? ""]);
    if (password instanceof UserError) return again(password.shown, 400);
    hash = await passwords.hash(password);
  }
  const user = await useLink(db, now(), token, hash);
  if (user === undefined) return linkGone();
  const { session, headers } = await beginSession(
    site,
    { ...user, password: hash ?? existing?.password },
    sessionToken,
  );
  if (link.team_id === null) return redirect("/", headers);
  const text = link.purpose === "invite" ? `You are in the team ${link.team_name} now.` : "The new password is set.";
  return redirect(sayAt(session, `/teams/${link.team_id}/devices`, { text }), headers);
}

function linkPage(link: Link, token: string, hasAccount: boolean, problem?: string, status = 200): Answer {
  return show(
    { title: link.purpose === "invite" ? "Join a team" : "New password", narrow: true },
    <OpenLink link={link} token={token} hasAccount={hasAccount} problem={problem} />,
    status,
  );
}

function linkGone(): Answer {
  return show(
    { title: "This link does not work", narrow: true },
    <>
      <p>It was used or cancelled, is older than a day, or is not complete. Ask for a new one.</p>
      <p>
        <a href="/sign-in">Go to the sign-in</a>
      </p>
    </>,
    404,
  );
}

interface OpenLinkProps {
  readonly link: Link;
  readonly token: string;
  readonly hasAccount: boolean;
  readonly problem?: string | undefined;
}

function OpenLink({ link, token, hasAccount, problem }: OpenLinkProps) {
  const joining = link.purpose === "invite";
  const isNew = !(joining && hasAccount);
  return (
    <>
      {problem !== undefined && <Message kind="error">{problem}</Message>}
      <p>
        {joining ? (
          <>
            <Name text={link.email} /> is invited to the team <strong>{link.team_name}</strong>
            {link.role === "admin" ? " as an administrator." : link.role === "viewer" ? " as a viewer." : "."}
          </>
        ) : (
          <>
            A new password for <Name text={link.email} />. All sessions of this account will end.
          </>
        )}
      </p>
      <PostForm action={`/link/${token}`}>
        <AccountName email={link.email} />
        <PasswordField
          label={isNew ? `Choose a password (${MIN_PASSWORD} characters or more)` : "Your password"}
          isNew={isNew}
        />
        <p class="actions">
          <Submit kind="main">{joining ? "Join and sign in" : "Set the password and sign in"}</Submit>
        </p>
      </PostForm>
    </>
  );
}
