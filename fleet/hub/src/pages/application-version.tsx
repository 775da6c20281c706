/**
 * The page of a version: its content, its changes against the version before, and the forms that assign the version.
 */
import { csrfOf } from "../auth/cookie.ts";
import { findVersion, needApp, needVersion } from "../nouns/application.ts";
import { MAX_WAIT_MINUTES, USUAL_GATES } from "../nouns/gates.ts";
import { SHADOW_BOUNDS, USUAL_SHADOW } from "../nouns/shadow.ts";
import { listDeviceTags } from "../nouns/device-tag.ts";
import { listGroups } from "../nouns/group.ts";
import { show, type Answer } from "./answer.tsx";
import { Difference, pretty, sizeText, versionText } from "./application-edit.tsx";
import { frameOf, type Member } from "./guards.tsx";
import { Breakable, Csrf } from "./layout.tsx";
import { Notices } from "./said.tsx";
import type { Site } from "./site.ts";
import { Time } from "./time.tsx";

export async function versionPage(site: Site, visit: Member): Promise<Answer> {
  const { db } = site;
  const { team, session } = visit;
  const app = await needApp(db, team.id, visit.param("app"));
  const version = await needVersion(db, team.id, app, Number(visit.param("number")) || 0);
  const before = await findVersion(db, team.id, app.id, version.number - 1);
  const { config, options, model, snaps, release } = version.content;
  const base = `/teams/${team.id}/apps/${app.id}`;
  const csrf = csrfOf(session);
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
  const sets = { groups: await listGroups(db, team.id), tags: await listDeviceTags(db, team.id) };
  return show(
    frameOf(visit, `Version ${version.number} of ${app.name}`, "apps"),
    <>
      <Notices visit={visit} />
      <p class="soft">
        <Time at={version.created_at} /> by <Breakable text={version.created_by} />, <a href={base}>{app.name}</a>
      </p>
      <GiveForm {...{ base, csrf, ...sets }} version={version.number} isNetwork={release === undefined} />
      <p class="actions">
        <a class="button" href={`${base}/edit?from=${version.number}`}>
          {release === undefined ? "Change it in a new version" : "New version"}
        </a>
      </p>
      {parts.map(([title, text]) => (
        <>
          <h2>{title}</h2>
          <pre class="machine" tabindex={0} role="region" aria-label={title}>
            {text}
          </pre>
        </>
      ))}
      {before !== undefined && (
        <Difference
          title={`Difference to version ${before.number}`}
          before={versionText(before)}
          after={versionText(version)}
        />
      )}
    </>,
  );
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
      <div>
        <label for="steps">Steps in per cent, instead of the share</label>
        <input id="steps" name="steps" placeholder="1, 10, 50, 100" maxlength={100} autocomplete="off" />
      </div>
      {fields.map(([name, label, min, max, usual]) => (
        <div>
          <label for={name}>{label}</label>
          <input id={name} name={name} type="number" min={min} max={max} placeholder={String(usual)} />
        </div>
      ))}
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
      <label>
        <input name="shadow" type="checkbox" value="yes" /> Before the first step
      </label>
      {fields.map(([name, label, [min, max], usual]) => (
        <div>
          <label for={`shadow-${name}`}>{label}</label>
          <input
            {...{ id: `shadow-${name}`, name: `shadow-${name}`, type: "number", min, max }}
            placeholder={String(usual)}
          />
        </div>
      ))}
      <label>
        <input name="shadow-snaps" type="checkbox" value="yes" /> Devices send snaps of the largest disagreements
      </label>
    </details>
  );
}

function GiveForm(props: {
  isNetwork: boolean;
  base: string;
  csrf: string;
  version: number;
  groups: readonly { id: string; name: string }[];
  tags: readonly string[];
}) {
  const { base, csrf, version, groups, tags, isNetwork } = props;
  return (
    <>
      <h2>Give this version</h2>
      {groups.length + tags.length > 0 && (
        <form method="post" action={`${base}/assign`} class="line">
          <Csrf value={csrf} />
          <input type="hidden" name="version" value={String(version)} />
          <div>
            <label for="target">Group or tag</label>
            <select id="target" name="target">
              {groups.map(({ id, name }) => (
                <option value={`group:${id}`}>{name}</option>
              ))}
              {tags.map((tag) => (
                <option value={`tag:${tag}`}>tag {tag}</option>
              ))}
            </select>
          </div>
          <div>
            <label for="share">Share first, in per cent</label>
            <input id="share" name="share" type="number" min={1} max={100} value="100" required />
          </div>
          <div>
            <label for="limit">Failures that stop it</label>
            <input id="limit" name="limit" type="number" min={1} max={100000} placeholder="1, or 5 with steps" />
          </div>
          <StepFields />
          {isNetwork && <ShadowFields />}
          <button type="submit" class="main">
            Give it to these devices
          </button>
        </form>
      )}
      <form method="post" action={`${base}/assign`} class="line">
        <Csrf value={csrf} />
        <input type="hidden" name="version" value={String(version)} />
        <div>
          <label for="device">One device, by name or id</label>
          <input id="device" name="device" required maxlength={100} autocomplete="off" />
        </div>
        <button type="submit">Give it to the device</button>
      </form>
    </>
  );
}
