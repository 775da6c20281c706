/** The account page of a signed-in user: sets a new password. */
import { csrfOf } from "../auth/cookie.ts";
import { UserError } from "../core/errors.ts";
import { MAX_PASSWORD, MIN_PASSWORD } from "../nouns/text.ts";
import { changePassword, findUser } from "../nouns/user.ts";
import { countText } from "./ago.tsx";
import { show, type Answer } from "./answer.tsx";
import { frameOf, type Guards, type SignedIn } from "./guards.tsx";
import { Breakable, Csrf, Message } from "./layout.tsx";
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
  const content = <Account email={user.email} csrf={csrfOf(fresh.session)} done />;
  return show(frameOf(visit, "Account", "account", fresh.session), content, 200, fresh.headers);
}

function accountPage(visit: SignedIn, problem?: string, status = 200): Answer {
  const { session } = visit;
  return show(
    frameOf(visit, "Account", "account"),
    <Account email={session.user.email} csrf={csrfOf(session)} problem={problem} />,
    status,
  );
}

function Account({
  email,
  csrf,
  problem,
  done,
}: {
  email: string;
  csrf: string;
  problem?: string | undefined;
  done?: boolean;
}) {
  return (
    <>
      {problem !== undefined && <Message kind="error">{problem}</Message>}
      {done === true && (
        <Message kind="done">The password is changed. Every other session of this account has ended.</Message>
      )}
      <p>
        Signed in as{" "}
        <strong>
          <Breakable text={email} />
        </strong>
        .
      </p>
      <h2>Change the password</h2>
      <form method="post" action="/account">
        <Csrf value={csrf} />
        <input
          class="hidden"
          type="email"
          name="email"
          autocomplete="username"
          value={email}
          readonly
          tabindex={-1}
          aria-hidden="true"
        />
        <label for="current">Current password</label>
        <input id="current" name="current" type="password" autocomplete="current-password" required />
        <label for="password">New password ({MIN_PASSWORD} characters or more)</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="new-password"
          required
          minlength={MIN_PASSWORD}
          maxlength={MAX_PASSWORD}
        />
        <p class="actions">
          <button class="main" type="submit">
            Change the password
          </button>
        </p>
      </form>
    </>
  );
}
