/** A form with one field for a name, which adds or renames a device, a group or an application. */
import type { Child } from "hono/jsx";
import { Csrf } from "./layout.tsx";

export interface NameFormProps {
  readonly action: string;
  readonly csrf: string;
  /** Id of the field, unique in the page. */
  readonly id: string;
  readonly label: string;
  readonly button: string;
  /** Initial value of the field: the present name, or the text that was typed before an error. */
  readonly value?: string | undefined;
  /** True for a form that replaces a row. Its field gets the focus. */
  readonly isOpened?: boolean;
  /** Address of the link "Cancel"; undefined for none. */
  readonly cancel?: string;
  /** False if another button on the page is more important. */
  readonly isMain?: boolean;
  readonly class?: string;
  /** Other fields of the form. */
  readonly children?: Child;
}

export function NameForm(props: NameFormProps) {
  const { action, csrf, id, label, button, value, isOpened = false, cancel, isMain = true } = props;
  return (
    <form method="post" action={action} class={`line ${props.class ?? ""}`.trim()}>
      <Csrf value={csrf} />
      <div>
        <label for={id}>{label}</label>
        <input id={id} name="name" required maxlength={100} autocomplete="off" autofocus={isOpened} value={value} />
      </div>
      {props.children}
      <button class={isMain ? "main" : undefined} type="submit">
        {button}
      </button>
      {cancel !== undefined && (
        <a class="button" href={cancel}>
          Cancel
        </a>
      )}
    </form>
  );
}
