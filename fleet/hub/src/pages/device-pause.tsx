/** Section of a device's page that pauses or resumes the device. */
import type { Heartbeat } from "boxwright-service/schema/protocol";
import type { DeviceState } from "../nouns/status.ts";
import { Ago } from "./ago.tsx";
import { PostForm, Submit } from "./forms.tsx";

/** Form that pauses or resumes a device. Shows if the device is paused, and if the device has confirmed the pause. */
export function PauseForm({ address, state, now }: { address: string; state: DeviceState; now: number }) {
  const says = state.report === null ? undefined : (JSON.parse(state.report) as Heartbeat).paused;
  const isPaused = state.paused_at !== null;
  return (
    <PostForm action={`${address}/${isPaused ? "resume" : "pause"}`} class="line">
      {state.paused_at !== null && (
        <span>
          <strong>Paused</strong> <Ago at={state.paused_at} now={now} />
          {says === true ? ": it takes no frames." : ". It has not said yet that it takes no frames."}
        </span>
      )}
      {!isPaused && says === true && <span>Resumed. It has not said yet that it takes frames.</span>}
      <Submit>{isPaused ? "Resume" : "Pause"}</Submit>
    </PostForm>
  );
}
