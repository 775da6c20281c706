/**
 * The form of a new version: config, options, model and rules for snaps. "Check" shows boxwright's result, and the
 * differences from the version that the form started with. A script runs the same check while the user types.
 */
import { checkDraft } from "../check/draft.ts";
import { UserError } from "../core/errors.ts";
import {
  agentContent,
  describeRelease,
  findVersion,
  needApp,
  saveVersion,
  type App,
  type AppVersion,
  type SaveVersion,
} from "../nouns/application.ts";
import { listModels, type ModelFile } from "../nouns/model.ts";
import { redirect, type Answer } from "./answer.tsx";
import { diffLines } from "./diff.ts";
import { MAX_APPLICATION_FORM } from "./form.ts";
import { LinkButton, Options, PostForm, Submit, type Choice } from "./forms.tsx";
import { changeOf, queryOf, showPage, type Guards, type Member } from "./guards.tsx";
import { Machine, Message } from "./layout.tsx";
import { ModelUpload } from "./model-upload.tsx";
import { sayAt } from "./said.ts";
import type { Site } from "./site.ts";

/** Values of the form as the user typed them. */
interface Typed {
  readonly config: string;
  readonly options: string;
  readonly snaps: string;
  readonly model: string;
  /** Number of the version that the form started with; 0 for none. */
  readonly from: number;
}

/** Result of checking the typed values. */
interface Verdict {
  readonly problem?: string;
  readonly description?: string;
}

export function registerApplicationEdit(site: Site, guards: Guards): void {
  const path = "/teams/:team/apps/:app/edit";
  guards.member.get(path, async (visit) => {
    const app = await needApp(site.db, visit.team.id, visit.param("app"));
    if (app.purpose === "agent") return releasePage(visit, app, "");
    const asked = Number(queryOf(visit).get("from") ?? app.newest);
    const number = Number.isSafeInteger(asked) ? asked : 0;
    const version = await findVersion(site.db, visit.team.id, app.id, number);
    return editPage(site, visit, app, typedOf(version), {});
  });
  guards.member.post(path, (visit) => postEdit(site, visit), { maxForm: MAX_APPLICATION_FORM });
}

function typedOf(version: AppVersion | undefined): Typed {
  if (version === undefined) return { config: "", options: "", snaps: "", model: "", from: 0 };
  const { config, options, model, snaps } = version.content;
  return {
    config: config === null ? "" : pretty(config),
    options: Object.keys(options).length === 0 ? "" : pretty(options),
    snaps: snaps.length === 0 ? "" : pretty(snaps),
    model: model?.sha256 ?? "",
    from: version.number,
  };
}

export const pretty = (value: unknown): string => JSON.stringify(value, null, 2);

async function postEdit(site: Site, visit: Member): Promise<Answer> {
  const { team, form } = visit;
  const app = await needApp(site.db, team.id, visit.param("app"));
  if (app.purpose === "agent") return postRelease(site, visit, app);
  const from = Number(form("from"));
  const typed: Typed = {
    // Convert line ends, since browsers send CRLF.
    config: form("config").replaceAll("\r\n", "\n"),
    options: form("options").replaceAll("\r\n", "\n"),
    snaps: form("snaps").replaceAll("\r\n", "\n"),
    model: form("model"),
    from: Number.isSafeInteger(from) && from > 0 ? from : 0,
  };
  try {
    const { config, options, snaps, model: modelSha256 } = typed;
    const checked = await checkDraft(site, team.id, { config, options, snaps, modelSha256 });
    if (form("do") !== "save") return await editPage(site, visit, app, typed, { description: checked.description });
    const expected = Number(form("newest"));
    return await save(site, visit, app, { ...checked, expected });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return editPage(site, visit, app, typed, { problem: error.shown }, form("do") === "save" ? error.status : 200);
  }
}

async function save(site: Site, visit: Member, { id }: App, checked: SaveVersion): Promise<Answer> {
  const { version, isNew } = await saveVersion(site.db, changeOf(site, visit), id, checked);
  const { number } = version;
  const text = isNew ? `Saved as version ${number}.` : `This is version ${number}, which was saved before.`;
  return redirect(sayAt(visit.session, `/teams/${visit.team.id}/apps/${id}/versions/${number}`, { text }));
}

async function editPage(
  site: Site,
  visit: Member,
  app: App,
  typed: Typed,
  verdict: Verdict,
  status = 200,
): Promise<Answer> {
  const { team } = visit;
  const models = await listModels(site.db, team.id);
  const before = typedOf(await findVersion(site.db, team.id, app.id, typed.from));
  const base = `/teams/${team.id}/apps/${app.id}`;
  const title = app.newest === 0 ? `First version of ${app.name}` : `New version of ${app.name}`;
  const content = (
    <>
      <PostForm action={`${base}/edit`} data-check="check" fields={{ from: typed.from, newest: app.newest }}>
        <Area name="config" label="Config" rows={16} value={typed.config}>
          NN_config, nn_config or an NN Archive's config.json. Empty: the model file says how to decode.
        </Area>
        <ModelField models={models} chosen={typed.model} teamId={team.id} />
        <Area name="options" label="Options" rows={4} value={typed.options}>
          Options of boxwright's createDetector, as JSON. For example <code>{'{"labels": "coco80"}'}</code>
        </Area>
        <Area name="snaps" label="Snaps" rows={5} value={typed.snaps}>
          When a device sends a picture, as JSON. For example{" "}
          <code>{'[{"name": "person", "class": "person", "min_confidence": 0.8, "per_hour": 10}]'}</code>
        </Area>
        <SaveRow base={base}>
          <Submit {...{ name: "do", value: "check" }}>Check</Submit>
        </SaveRow>
      </PostForm>
      <div id="check" aria-live="polite">
        <CheckResult verdict={verdict} before={before} typed={typed} />
      </div>
    </>
  );
  return showPage(visit, [title, "apps"], content, { status });
}

async function postRelease(site: Site, visit: Member, app: App): Promise<Answer> {
  const { team, form } = visit;
  try {
    const content = await agentContent(site.db, team.id, form("release"));
    const checked = { content, description: describeRelease(content.release!) };
    return await save(site, visit, app, checked);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return releasePage(visit, app, form("release").slice(0, 10_000), error);
  }
}

function releasePage(visit: Member, app: App, typed: string, problem?: UserError): Answer {
  const base = `/teams/${visit.team.id}/apps/${app.id}`;
  const content = (
    <>
      <p class="soft">
        Send the archive, then paste its signed release. Devices take only what a key of their own settings has signed,
        and keep it only if it stays healthy.
      </p>
      <ModelUpload teamId={visit.team.id} label="Send the archive" />
      <PostForm action={`${base}/edit`}>
        <Area name="release" label="Release" rows={6} value={typed}>
          What <code>boxwright-agent release sign</code> has printed.
        </Area>
        <SaveRow base={base} />
      </PostForm>
    </>
  );
  return showPage(visit, [`New version of ${app.name}`, "apps"], content, { problem });
}

/** Buttons below the form of a new version. */
function SaveRow({ base, children }: { base: string; children?: unknown }) {
  return (
    <div class="actions">
      {children}
      <Submit {...{ kind: "main", name: "do", value: "save" }}>Save version</Submit>
      <LinkButton href={base} label="Cancel" />
    </div>
  );
}

function Area(props: { name: string; label: string; rows: number; value: string; children?: unknown }) {
  const hint = `${props.name}-hint`;
  return (
    <div class="field">
      <label for={props.name}>{props.label}</label>
      <p class="soft" id={hint}>
        {props.children}
      </p>
      <textarea
        {...{ id: props.name, name: props.name, rows: props.rows }}
        spellcheck={false}
        aria-describedby={hint}
        class="code"
      >
        {props.value}
      </textarea>
    </div>
  );
}

function ModelField(props: { models: readonly ModelFile[]; chosen: string; teamId: string }) {
  const none: Choice = ["", "None: an agent refuses the version"];
  const textOf = ({ sha256, name, size }: ModelFile): string => `${name} (${sizeText(size)}, ${sha256.slice(0, 8)})`;
  return (
    <div class="field">
      <label for="model">Model file</label>
      <select id="model" name="model">
        <Options
          choices={[none, ...props.models.map((model): Choice => [model.sha256, textOf(model)])]}
          value={props.chosen}
        />
      </select>
      <ModelUpload teamId={props.teamId} label="Send a model file" />
    </div>
  );
}

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

function CheckResult({ verdict, before, typed }: { verdict: Verdict; before: Typed; typed: Typed }) {
  const { problem, description } = verdict;
  const isChecked = problem !== undefined || description !== undefined;
  return (
    <>
      {problem !== undefined && (
        <Message kind="error">
          <pre class="wrap">{problem}</pre>
        </Message>
      )}
      {description !== undefined && (
        <>
          <h2>What boxwright makes of it</h2>
          <Machine title="What boxwright makes of it">{description}</Machine>
        </>
      )}
      {isChecked && before.from > 0 && (
        <Difference title={`Difference to version ${before.from}`} before={textOf(before)} after={textOf(typed)} />
      )}
    </>
  );
}

/** Returns all parts of a version as one text, to compare versions. */
function textOf({ config, options, snaps, model }: Typed): string {
  const parts = [
    ["config", tidy(config)],
    ["model", model],
    ["options", tidy(options)],
    ["snaps", tidy(snaps)],
  ] as const;
  return parts.flatMap(([name, text]) => (text === "" ? [] : [`${name}: ${text}`])).join("\n");
}

/** Returns JSON in one layout, so that differences in white space do not show. Returns other text unchanged. */
function tidy(text: string): string {
  try {
    return text.trim() === "" ? "" : pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

export const versionText = (version: AppVersion): string => textOf(typedOf(version));

export function Difference({ title, before, after }: { title: string; before: string; after: string }) {
  const lines = diffLines(before, after);
  const changed = lines.some(({ kind }) => kind !== "same");
  const marks = { same: " ", added: "+", removed: "-" } as const;
  return (
    <>
      <h2>{title}</h2>
      {changed ? (
        <Machine title={title} class="diff">
          {lines.map(({ kind, text }) =>
            kind === "same" ? (
              `  ${text}\n`
            ) : kind === "added" ? (
              <ins>{`${marks.added} ${text}\n`}</ins>
            ) : (
              <del>{`${marks.removed} ${text}\n`}</del>
            ),
          )}
        </Machine>
      ) : (
        <p>None.</p>
      )}
    </>
  );
}
