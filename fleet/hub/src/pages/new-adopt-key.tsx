/** Shows an adopt key that was just made. Only this answer contains the key. */
import { CopyText, Message } from "./layout.tsx";

export interface MadeAdoptKey {
  readonly id: string;
  readonly key: string;
  readonly expires_at: number;
}

interface NewAdoptKeyProps {
  /** The key that this request made. Undefined if an earlier request of the same form has made the key. */
  readonly made: MadeAdoptKey | undefined;
  readonly baseUrl: string;
  readonly back: string;
  readonly backText: string;
}

export function NewAdoptKey({ made, baseUrl, back, backText }: NewAdoptKeyProps) {
  const link = (
    <p>
      <a href={back}>Back to {backText}</a>
    </p>
  );
  if (made === undefined)
    return (
      <>
        <Message kind="error">
          This form has made its key already, and a key is shown only once. No second key was made.
        </Message>
        {link}
      </>
    );
  return (
    <>
      <Message kind="done">
        <CopyText id="adopt-key" label="Your new adopt key" value={made.key} />
        <p>
          <strong>Copy it now: it is not shown again.</strong> It holds until{" "}
          {new Date(made.expires_at).toISOString().slice(0, 16).replace("T", " ")} UTC.
        </p>
      </Message>
      <h2>Use it</h2>
      <p>On the device, where the agent is installed. Start the agent with the same file or the same address then.</p>
      <CopyText
        id="enrol-settings-line"
        label="For an agent with a settings file that names this hub"
        value={`boxwright-agent enrol settings.json --key ${made.key}`}
      />
      <CopyText
        id="enrol-line"
        label="For an agent without one"
        value={`boxwright-agent enrol --hub ${baseUrl} --key ${made.key}`}
      />
      <p class="soft">
        From a clone, <code>fleet/agent/start.sh</code> stands for <code>boxwright-agent</code>.
      </p>
      {link}
    </>
  );
}
