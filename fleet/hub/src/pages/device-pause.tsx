/** Section of a device's page that pauses or resumes the device. */
import type { Heartbeat } from "boxwright-service/schema/protocol";
import type { DeviceState } from "../nouns/status.ts";
import { Ago } from "./ago.tsx";
import { Csrf } from "./layout.tsx";

/** Form that pauses or resumes a device. Shows if the device is paused, and if the device has confirmed the pause. */
export function PauseForm(props: { address: string; csrf: string; state: DeviceState; now: number }) {
  const { address, csrf, state, now } = props;
  const says = state.report === null ? undefined : (JSON.parse(state.report) as Heartbeat).paused;
  const isPaused = state.paused_at !== null;
  return (
    <form method="post" action={`${address}/${isPaused ? "resume" : "pause"}`} class="line">
      <Csrf value={csrf} />
      {state.paused_at !== null && (
        <span>
          <strong>Paused</strong> <Ago at={state.paused_at} now={now} />
          {says === true ? ": it takes no frames." : ". It has not said yet that it takes no frames."}
        </span>
      )}
      {!isPaused && says === true && <span>Resumed. It has not said yet that it takes frames.</span>}
      <button type="submit">{isPaused ? "Resume" : "Pause"}</button>
    </form>
  );
}
