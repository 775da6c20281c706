/**
 * The page of a version: its content, its changes against the version before, and the forms that assign the version.
 */
import { findVersion, needApp, needVersion } from "../nouns/application.ts";
import { MAX_WAIT_MINUTES, USUAL_GATES } from "../nouns/gates.ts";
import { SHADOW_BOUNDS, USUAL_SHADOW } from "../nouns/shadow.ts";
import { listDeviceTags } from "../nouns/device-tag.ts";
import { listGroups } from "../nouns/group.ts";
import type { Answer } from "./answer.tsx";
import { Difference, pretty, sizeText, versionText } from "./application-edit.tsx";
import { Field, LinkButton, PostForm, Select, Submit, type Choice } from "./forms.tsx";
import { showPage, type Member } from "./guards.tsx";
import { Breakable, Machine } from "./layout.tsx";
import type { Site } from "./site.ts";
import { Time } from "./time.tsx";

export async function versionPage(site: Site, visit: Member): Promise<Answer> {
  const { db } = site;
  const { team } = visit;
  const app = await needApp(db, team.id, visit.param("app"));
  const version = await needVersion(db, team.id, app, Number(visit.param("number")) || 0);
  const before = await findVersion(db, team.id, app.id, version.number - 1);
  const { config, options, model, snaps, release } = version.content;
  const base = `/teams/${team.id}/apps/${app.id}`;
  const file: readonly [string, string] = [
    release === undefined ? "Model file" : "Archive",
    model === null
      ? "none: an agent refuses a version without one"
      : `${model.name}, ${sizeText(model.size)}\n${model.sha256}`,
  ];
  const network = [
    ["Config", config === null ? "none: the model file says how to decode" : pretty(config)],
    file,
    ["Options", Object.keys(options).length === 0 ? "none" : pretty(options)],
    ["Snaps", snaps.length === 0 ? "none" : pretty(snaps)],
    ["What boxwright makes of it", version.description],
  ] as const;
  const parts =
    release === undefined
      ? network
      : ([["Release", version.description], file, ["Signed text", release.release]] as const);
  const groups = (await listGroups(db, team.id)).map(({ id, name }): Choice => [`group:${id}`, name]);
  const tags = (await listDeviceTags(db, team.id)).map((tag): Choice => [`tag:${tag}`, `tag ${tag}`]);
  const content = (
    <>
      <p class="soft">
        <Time at={version.created_at} /> by <Breakable text={version.created_by} />, <a href={base}>{app.name}</a>
      </p>
      <GiveForm
        {...{ base, targets: [...groups, ...tags] }}
        version={version.number}
        isNetwork={release === undefined}
      />
      <p class="actions">
        <LinkButton
          href={`${base}/edit?from=${version.number}`}
          label={release === undefined ? "Change it in a new version" : "New version"}
        />
      </p>
      {parts.map(([title, text]) => (
        <>
          <h2>{title}</h2>
          <Machine title={title}>{text}</Machine>
        </>
      ))}
      {before !== undefined && (
        <Difference
          title={`Difference to version ${before.number}`}
          before={versionText(before)}
          after={versionText(version)}
        />
      )}
    </>
  );
  return showPage(visit, [`Version ${version.number} of ${app.name}`, "apps"], content);
}

/** Fields of a roll-out whose steps open automatically. */
function StepFields() {
  const { success_percent, error_percent, wait_minutes } = USUAL_GATES;
  const fields = [
    ["success", "Per cent that use it before the next step", 1, 99, success_percent],
    ["error", "Per cent of failures that stop it", 1, 99, error_percent],
    ["wait", "Minutes of a step at least", 0, MAX_WAIT_MINUTES, wait_minutes],
  ] as const;
  return (
    <details>
      <summary>Steps that open by themselves</summary>
      <div class="fields">
        <Field label="Steps in per cent, instead of the share" name="steps" placeholder="1, 10, 50, 100" />
        {fields.map(([name, label, min, max, usual]) => (
          <Field {...{ name, label, type: "number", min, max, placeholder: String(usual) }} />
        ))}
      </div>
    </details>
  );
}

/** Fields of a shadow, which runs before the first step. */
function ShadowFields() {
  const { share, every, min_agreement, min_frames, max_slowdown } = USUAL_SHADOW;
  const fields = [
    ["share", "Per cent of devices that compare", SHADOW_BOUNDS.sharePercent, share],
    ["every", "They compare each of so many frames", SHADOW_BOUNDS.every, every],
    ["agreement", "Per cent of boxes that have to agree", SHADOW_BOUNDS.minAgreementPercent, min_agreement],
    ["frames", "Frames with boxes that are needed", SHADOW_BOUNDS.minFrames, min_frames],
    ["slowdown", "Per cent that a frame may take longer", SHADOW_BOUNDS.maxSlowdownPercent, max_slowdown],
  ] as const;
  return (
    <details>
      <summary>Compare first, in shadow of the version that runs</summary>
      <label class="tick">
        <input name="shadow" type="checkbox" value="yes" /> Before the first step
      </label>
      <div class="fields">
        {fields.map(([name, label, [min, max], usual]) => (
          <Field {...{ name: `shadow-${name}`, label, type: "number", min, max, placeholder: String(usual) }} />
        ))}
      </div>
      <label class="tick">
        <input name="shadow-snaps" type="checkbox" value="yes" /> Devices send snaps of the largest disagreements
      </label>
    </details>
  );
}

interface GiveFormProps {
  readonly isNetwork: boolean;
  readonly base: string;
  readonly version: number;
  /** Groups and tags. */
  readonly targets: readonly Choice[];
}

function GiveForm({ base, version, targets, isNetwork }: GiveFormProps) {
  const form = { action: `${base}/assign`, class: "line", fields: { version } };
  const limit = { min: 1, max: 100_000, placeholder: "1, or 5 with steps" };
  return (
    <>
      <h2>Give this version</h2>
      {targets.length > 0 && (
        <PostForm {...form}>
          <Select label="Group or tag" name="target" choices={targets} />
          <Field
            {...{ label: "Share first, in per cent", name: "share", min: 1, max: 100, value: "100" }}
            type="number"
            required
          />
          <Field {...{ label: "Failures that stop it", name: "limit", type: "number", ...limit }} />
          <StepFields />
          {isNetwork && <ShadowFields />}
          <Submit kind="main">Give it to these devices</Submit>
        </PostForm>
      )}
      <PostForm {...form}>
        <Field label="One device, by name or id" name="device" required />
        <Submit>Give it to the device</Submit>
      </PostForm>
    </>
  );
}
