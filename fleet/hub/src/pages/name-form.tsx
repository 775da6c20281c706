/** A form with one field for a name: to add a device, a group or an application, or to rename it. */
import type { Child } from "hono/jsx";
import { Csrf } from "./layout.tsx";

export interface NameFormProps {
  readonly action: string;
  readonly csrf: string;
  /** Of the field, unique in the page. */
  readonly id: string;
  readonly label: string;
  readonly button: string;
  /** What stands in the field: the name so far, or what was typed before an error. */
  readonly value?: string | undefined;
  /** True for a form that opened in place of a row: the field has the focus. */
  readonly isOpened?: boolean;
  /** Address of "Cancel"; undefined: there is no such link. */
  readonly cancel?: string;
  /** False if the page has a more important button. */
  readonly isMain?: boolean;
  readonly class?: string;
  /** Fields beside the name. */
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
