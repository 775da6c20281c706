/** Shows an adopt key that was just made. Only this answer contains the key. */
import { CopyText, ShownOnce } from "./layout.tsx";

interface MadeAdoptKey {
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

export function NewAdoptKey({ made, baseUrl, ...back }: NewAdoptKeyProps) {
  const end = new Date(made?.expires_at ?? 0).toISOString().slice(0, 16).replace("T", " ");
  return (
    <ShownOnce
      {...{ id: "adopt-key", label: "Your new adopt key", value: made?.key, ...back }}
      note={`It holds until ${end} UTC.`}
    >
      {made !== undefined && (
        <>
          <h2>Use it</h2>
          <p>
            On the device, where the agent is installed. Start the agent with the same file or the same address then.
          </p>
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
        </>
      )}
    </ShownOnce>
  );
}
