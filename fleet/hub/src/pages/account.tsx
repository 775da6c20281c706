/** The account page of a signed-in user: sets a new password. */
import { UserError } from "../core/errors.ts";
import { MAX_PASSWORD, MIN_PASSWORD } from "../nouns/text.ts";
import { changePassword, findUser } from "../nouns/user.ts";
import { countText } from "./ago.tsx";
import { show, type Answer } from "./answer.tsx";
import { AccountName, PasswordField, PostForm, Submit } from "./forms.tsx";
import { frameOf, type Guards, type SignedIn } from "./guards.tsx";
import { Message, Name } from "./layout.tsx";
import { tryPassword } from "./new-password.ts";
import { beginSession, takeKnownSignIn, type Site } from "./site.ts";

export function registerAccount(site: Site, guards: Guards): void {
  guards.signedIn.get("/account", (visit) => accountPage(visit));
  guards.signedIn.post("/account", (visit) => postAccount(site, visit));
}

async function postAccount(site: Site, visit: SignedIn): Promise<Answer> {
  const { db, now, passwords } = site;
  const { session, form } = visit;
  const wait = takeKnownSignIn(site, `session of ${session.user.id}`);
  if (wait > 0) {
    const problem = `Too many tries. Try again in ${countText(wait, "second")}.`;
    return { ...accountPage(visit, problem, 429), headers: { "retry-after": String(wait) } };
  }
  const user = await findUser(db, session.user.email);
  if (!(await passwords.verify(form("current").slice(0, MAX_PASSWORD * 2), user?.password)) || user === undefined)
    return accountPage(visit, "This is not the current password.", 401);
  const password = await tryPassword(form("password"), [user.email, ...visit.teams.map(({ name }) => name)]);
  if (password instanceof UserError) return accountPage(visit, password.shown, 400);
  const hash = await passwords.hash(password);
  await changePassword(db, now(), user, hash);
  // Open a new session: the change of the password ended all sessions, including this one.
  const fresh = await beginSession(site, { ...user, password: hash });
  const content = <Account email={user.email} done />;
  return show(frameOf(visit, "Account", "account", fresh.session), content, 200, fresh.headers);
}

function accountPage(visit: SignedIn, problem?: string, status = 200): Answer {
  const { session } = visit;
  return show(frameOf(visit, "Account", "account"), <Account email={session.user.email} problem={problem} />, status);
}

function Account({ email, problem, done }: { email: string; problem?: string | undefined; done?: boolean }) {
  return (
    <>
      {problem !== undefined && <Message kind="error">{problem}</Message>}
      {done === true && (
        <Message kind="done">The password is changed. Every other session of this account has ended.</Message>
      )}
      <p>
        Signed in as <Name text={email} />.
      </p>
      <h2>Change the password</h2>
      <PostForm action="/account">
        <AccountName email={email} />
        <PasswordField name="current" label="Current password" isNew={false} />
        <PasswordField label={`New password (${MIN_PASSWORD} characters or more)`} isNew />
        <p class="actions">
          <Submit kind="main">Change the password</Submit>
        </p>
      </PostForm>
    </>
  );
}
