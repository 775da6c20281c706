/** Parts of forms: the form with the token of its session, fields, buttons, and the question before a removal. */
import { createContext, useContext, type Child, type JSX } from "hono/jsx";
import { MAX_PASSWORD, MIN_PASSWORD } from "../nouns/text.ts";

/** CSRF token of the session for which the page is rendered. Undefined on a page without a session. */
export const CsrfToken = createContext<string | undefined>(undefined);

/** Values of hidden fields, by name. */
type Fields = Readonly<Record<string, string | number>>;

interface PostFormProps {
  readonly action: string;
  readonly class?: string | undefined;
  readonly fields?: Fields;
  readonly id?: string;
  readonly "data-check"?: string;
  readonly children?: Child;
}

/** A form that is sent by POST, with the CSRF token, which ties the form to its session. */
export function PostForm({ action, fields = {}, children, ...more }: PostFormProps) {
  const token = useContext(CsrfToken);
  const hidden = { ...(token !== undefined && { csrf: token }), ...fields };
  return (
    <form method="post" action={action} {...more}>
      {Object.entries(hidden).map(([name, value]) => (
        <input type="hidden" name={name} value={String(value)} />
      ))}
      {children}
    </form>
  );
}

type Kind = "main" | "danger";

/** The button that sends a form. */
export function Submit({ kind, ...more }: JSX.IntrinsicElements["button"] & { kind?: Kind }) {
  return <button class={kind} type="submit" {...more} />;
}

interface LinkButtonProps {
  readonly href: string;
  readonly label: string;
  /** Name of the object that the link acts on. Screen readers read this name after the label. */
  readonly name?: string;
}

/** A link that looks like a button. */
export function LinkButton({ href, label, name }: LinkButtonProps) {
  return (
    <a class="button" href={href} aria-label={name === undefined ? undefined : `${label} ${name}`}>
      {label}
    </a>
  );
}

interface ButtonFormProps {
  readonly action: string;
  readonly label: string;
  /** Name of the object that the button acts on. Screen readers read this name after the label. */
  readonly name?: string | undefined;
  readonly fields?: Fields;
  readonly class?: string;
}

/** A form that consists of one button. */
export function ButtonForm({ label, name, ...form }: ButtonFormProps) {
  return (
    <PostForm {...form}>
      <Submit aria-label={name === undefined ? undefined : `${label} ${name}`}>{label}</Submit>
    </PostForm>
  );
}

interface FieldProps {
  readonly label: Child;
  readonly name: string;
  /** Id of the field, unique in the page. Default: its name. */
  readonly id?: string;
}

/** A field for text or a number, with its label. */
export function Field({ label, id, ...input }: FieldProps & Omit<JSX.IntrinsicElements["input"], "id" | "name">) {
  const field = id ?? input.name;
  const text = input["type"] === "number" ? {} : { maxlength: 100, autocomplete: "off" };
  return (
    <div>
      <label for={field}>{label}</label>
      <input id={field} {...text} {...input} />
    </div>
  );
}

/** Value of an option and its text. */
export type Choice = readonly [value: string, text: string];

interface SelectProps extends FieldProps {
  readonly choices: readonly Choice[];
  readonly value?: string | null | undefined;
}

/** A field that offers choices, with its label. */
export function Select({ label, name, id = name, choices, value }: SelectProps) {
  return (
    <div>
      <label for={id}>{label}</label>
      <select id={id} name={name}>
        <Options {...{ choices, value }} />
      </select>
    </div>
  );
}

export function Options({ choices, value }: Pick<SelectProps, "choices" | "value">) {
  return (
    <>
      {choices.map(([choice, text]) => (
        <option value={choice} selected={choice === value}>
          {text}
        </option>
      ))}
    </>
  );
}

interface NameFormProps {
  readonly action: string;
  /** Id of the field, unique in the page. */
  readonly id: string;
  readonly label: string;
  readonly button: string;
  /** Initial value of the field: the present name, or the text that was typed before an error. */
  readonly value?: string | undefined;
  /** Address of the link "Cancel" of a form that replaces a row. Its field gets the focus. */
  readonly cancel?: string;
  /** False if another button on the page is more important. */
  readonly isMain?: boolean;
  readonly class?: string;
  /** Other fields of the form. */
  readonly children?: Child;
}

/** A form with one field for a name, which adds or renames a device, a group or an application. */
export function NameForm({ action, id, label, button, value, cancel, isMain = true, ...props }: NameFormProps) {
  return (
    <PostForm action={action} class={`line ${props.class ?? ""}`.trim()}>
      <Field {...{ id, label, name: "name", required: true, autofocus: cancel !== undefined, value }} />
      {props.children}
      <Submit {...(isMain && { kind: "main" })}>{button}</Submit>
      {cancel !== undefined && <LinkButton href={cancel} label="Cancel" />}
    </PostForm>
  );
}

interface QuestionProps {
  readonly action: string;
  /** Address of the page without the question. */
  readonly back: string;
  readonly button?: string;
  readonly keep?: string;
  readonly fields?: Fields;
  /** The question. */
  readonly children?: Child;
}

/** Asks for confirmation before a removal. */
export function Question({ back, button = "Remove it", keep = "Keep it", children, ...form }: QuestionProps) {
  return (
    <PostForm {...form} class="question">
      <p>{children}</p>
      <Submit kind="danger">{button}</Submit>
      <LinkButton href={back} label={keep} />
    </PostForm>
  );
}

/** Hidden field with the email of an account, by which a browser finds the password that it stored. */
export function AccountName({ email }: { email: string }) {
  return (
    <input
      {...{ class: "hidden", type: "email", name: "email", autocomplete: "username", value: email }}
      {...{ readonly: true, tabindex: -1, "aria-hidden": "true" }}
    />
  );
}

/** Field for a new password, or for the present one. */
export function PasswordField({ name = "password", label, isNew }: { name?: string; label: string; isNew: boolean }) {
  const limits = isNew ? { minlength: MIN_PASSWORD, maxlength: MAX_PASSWORD } : {};
  const autocomplete = isNew ? "new-password" : "current-password";
  return (
    <>
      <label for={name}>{label}</label>
      <input id={name} name={name} type="password" autocomplete={autocomplete} required {...limits} />
    </>
  );
}
