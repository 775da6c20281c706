/** The assignment of an application to a target: progress of the roll-out, and forms that change it. */
import type { Assignment } from "../nouns/assignment.ts";
import { nextStep, parseGates, type Gates } from "../nouns/gates.ts";
import type { RolloutProgress } from "../nouns/desired.ts";
import { countText } from "./ago.tsx";
import { ButtonForm } from "./forms.tsx";
import { parseShadow, SHADOW_SHARE } from "../nouns/shadow.ts";
import type { TargetKind } from "../nouns/target.ts";
import type { ShadowResultParts } from "./shadow-result.tsx";

interface Given {
  /** Address of the application's page. */
  readonly base: string;
  readonly assignment: Assignment;
  /** Name of the group or the device, or the tag. */
  readonly name: string;
  /** Progress of the roll-out, or of the version for all. Undefined for a single device. */
  readonly progress: RolloutProgress | undefined;
  /** Result of the shadow, if there is one. */
  readonly children: ReturnType<typeof ShadowResultParts>;
}

/** Shares that the form offers to widen a roll-out. */
const NEXT_SHARES = [10, 25, 50, 100];

/** Words before the name of a target. */
const KIND_WORDS: Readonly<Record<TargetKind, string>> = { device: "", group: "Group ", tag: "Tag " };

export function AssignmentItem({ assignment: a, name, progress, children, base }: Given) {
  const fields = { target: `${a.kind}:${a.target_id}`, revision: a.revision };
  const shares = parseGates(a.gates)?.steps ?? NEXT_SHARES;
  const next = a.share === null ? undefined : (shares.find((share) => share > a.share!) ?? 100);
  return (
    <li>
      <div class="what">
        <strong>{KIND_WORDS[a.kind] + name}</strong>
        <span class="soft">
          {a.version === null ? "no version for all yet" : `version ${a.version}`}
          {a.next_version !== null && `, roll-out of version ${a.next_version} ${shareText(a)}`}
        </span>
        <RolloutText assignment={a} progress={progress} />
        {children}
      </div>
      <div class="do">
        {next !== undefined && (
          <ButtonForm
            action={`${base}/assign`}
            label={next === 100 ? "Give it to all" : `Widen to ${next} %`}
            fields={{ ...fields, version: a.next_version!, share: next }}
          />
        )}
        {a.next_version !== null && <ButtonForm {...{ action: `${base}/end`, label: "End the roll-out", fields }} />}
        <ButtonForm {...{ action: `${base}/unassign`, label: "Take away", name: `from ${name}`, fields }} />
      </div>
    </li>
  );
}

/** Returns the text that says which share of devices has the version of a roll-out. */
function shareText({ share, shadow }: Assignment): string {
  if (share !== SHADOW_SHARE) return `to ${share}\u00a0%`;
  return `in shadow on ${parseShadow(shadow)?.share ?? 0}\u00a0%`;
}

/** Shows how many devices use the version. For a roll-out, also what stops the roll-out. */
function RolloutText({ assignment: a, progress }: { assignment: Assignment; progress: RolloutProgress | undefined }) {
  if (progress === undefined) return <></>;
  if (a.share === SHADOW_SHARE) return <ShadowText assignment={a} />;
  const { devices, applied, failed, waiting, offline } = progress;
  const parts = [
    `${applied} of ${countText(devices, "device")} ${devices === 1 ? "uses" : "use"} it`,
    ...(waiting > 0 ? [`${waiting} without a report yet${offline > 0 ? `, ${offline} of them offline` : ""}`] : []),
  ];
  const limit = countText(a.failure_limit ?? 1, "device");
  const gates = parseGates(a.gates);
  const failures =
    gates === undefined ? `${limit} that cannot use it` : `${limit} and ${gates.error_percent} % that cannot use it`;
  return (
    <span class="soft">
      {parts.join("; ")}
      {failed > 0 && <span class="bad">; {failed} cannot use it</span>}
      {a.rollout_id === null ? (
        ""
      ) : a.rollout_state === "stopped" ? (
        <strong class="bad">; stopped at {failures}</strong>
      ) : (
        `; stops at ${failures}${gates === undefined ? "" : `; ${stepText(a, gates)}`}`
      )}
    </span>
  );
}

/** Shows when a roll-out with a shadow goes on, or that the shadow has stopped the roll-out. */
function ShadowText({ assignment: a }: { assignment: Assignment }) {
  const gates = parseGates(a.gates);
  if (a.rollout_state === "stopped") return <strong class="bad">stopped: the versions disagree too much</strong>;
  return (
    <span class="soft">
      no device uses it yet; goes to {gates?.steps[0] ?? 100} % once the versions agree
      {gates && `, ${fromText(a, gates)}`}
    </span>
  );
}

/** Returns the text with the time from which on the hub may open the next step. */
function fromText({ step_at }: Assignment, { wait_minutes }: Gates): string {
  const from = new Date((step_at ?? 0) + wait_minutes * 60_000).toISOString();
  return `from ${from.slice(0, 16).replace("T", " ")} UTC on`;
}

/** Returns the text that says when the hub opens the next step. */
function stepText(assignment: Assignment, gates: Gates): string {
  const { share } = assignment;
  const next = nextStep(gates, share ?? 0);
  if (next === undefined && share !== 100) return "the last step is open, and a person widens it";
  const what = next === undefined ? "ends" : `goes to ${next} %`;
  return `${what} once ${gates.success_percent} % use it, ${fromText(assignment, gates)}`;
}
