/**
 * Model files of a team: lists the files with their uses, sends and removes files. A script uploads files to the path
 * of this page.
 */
import type { UserError } from "../core/errors.ts";
import { listModels, removeModelFile, type ModelFile } from "../nouns/model.ts";
import { describeModel, readModelUse, readStorage, type ModelUse } from "../nouns/model-use.ts";
import { handleModel } from "../uploads/models.ts";
import { countText } from "./ago.tsx";
import type { Answer } from "./answer.tsx";
import { sizeText } from "./application-edit.tsx";
import { LinkButton, Question } from "./forms.tsx";
import { showPage, type Guards, type Member } from "./guards.tsx";
import { Breakable, List } from "./layout.tsx";
import { ModelUpload } from "./model-upload.tsx";
import type { Site } from "./site.ts";
import { Time } from "./time.tsx";

export function registerModels(site: Site, guards: Guards): void {
  const base = "/teams/:team/models";
  guards.script(`${base}/:sha256`, ({ exchange, team, session, param }) =>
    handleModel(site, exchange, { teamId: team.id, actor: session.user.email }, param("sha256")),
  );
  const form = guards.page(base, (visit, problem, open = {}) => modelsPage(site, visit, open["remove"], problem));
  form(`${base}/:sha256/remove`, async ({ team, session, param }) => {
    const name = await removeModelFile(site, session.user.email, team.id, param("sha256"));
    return `Removed ${name}.`;
  });
}

async function modelsPage(
  { db, config }: Site,
  visit: Member,
  remove: string | undefined,
  problem?: UserError,
): Promise<Answer> {
  const { team } = visit;
  const base = `/teams/${team.id}`;
  const models = await listModels(db, team.id, { unfinished: true });
  const uses = await readModelUse(db, team.id);
  const missing = [];
  for (const sha256 of uses.named)
    if (!models.some((model) => model.sha256 === sha256))
      missing.push({ sha256, file: await describeModel(db, team.id, sha256), use: uses.of(sha256) });
  const { modelBytes } = await readStorage(db, team.id);
  const content = (
    <>
      <p class="soft">
        The networks that versions of applications name, and archives of the agent. Send a file here, on the page of a
        new version, or with an API key.
      </p>
      <ModelUpload teamId={team.id} label="Send a file" />
      <p class="count">
        {countOf(models.length)}, {sizeText(modelBytes)} of {sizeText(config.teamModelBytes)}
      </p>
      <List label="Model files">
        {models.map((model) => (
          <ModelItem
            {...{ model, use: uses.of(model.sha256), base }}
            isRemoving={model.sha256 === remove && uses.of(model.sha256).apps.length === 0}
          />
        ))}
      </List>
      {missing.length > 0 && (
        <>
          <h2>Missing</h2>
          <p class="soft">
            Versions name these files, and the hub does not have them: a backup holds no model files. Devices wait for
            them. "Send it" opens the form of a new version: the file is there once it is sent, and nothing has to be
            saved.
          </p>
          <List label="Missing">
            {missing.map(({ sha256, file, use }) => (
              <li>
                <div class="what">
                  <ModelName name={file?.name ?? "a file"} sha256={sha256} />
                  <span class="soft">
                    {file !== null && `${sizeText(file.size)}, for `}
                    <Users use={use} base={base} />
                  </span>
                </div>
                <LinkButton
                  href={`${base}/apps/${use.apps[0]!.id}/edit?from=${use.apps[0]!.versions[0]}`}
                  label="Send it"
                />
              </li>
            ))}
          </List>
        </>
      )}
    </>
  );
  return showPage(visit, ["Model files", "models"], content, { problem });
}

const countOf = (count: number): string => (count === 0 ? "No model files yet" : countText(count, "model file"));

interface ModelItemProps {
  readonly model: ModelFile;
  readonly use: ModelUse;
  readonly base: string;
  /** True if the row asks for confirmation before the file is removed. */
  readonly isRemoving: boolean;
}

function ModelName({ name, sha256 }: { name: string; sha256: string }) {
  return (
    <strong>
      <Breakable text={name} /> <code class="soft">{sha256.slice(0, 8)}</code>
    </strong>
  );
}

function ModelItem({ model, use, base, isRemoving }: ModelItemProps) {
  const { name, sha256, size, created_at, complete_at } = model;
  const isUsed = use.apps.length > 0;
  const anchor = `model-${sha256.slice(0, 8)}`;
  if (isRemoving)
    return (
      <li id={anchor} class="open">
        <Question action={`${base}/models/${sha256}/remove`} back={`${base}/models#${anchor}`}>
          Remove <strong>{name}</strong>? Its bytes are deleted, for good.
        </Question>
      </li>
    );
  return (
    <li id={anchor}>
      <div class="what">
        <ModelName name={name} sha256={sha256} />
        <span class="soft">
          {sizeText(size)}, <Time at={complete_at ?? created_at} />
          {complete_at === null && <strong class="bad">, not there whole yet</strong>}
        </span>
        <span class="soft">
          {isUsed ? <Users use={use} base={base} /> : complete_at === null ? "" : "no version names it"}
        </span>
      </div>
      {!isUsed && <LinkButton href={`${base}/models?remove=${sha256}#${anchor}`} label="Remove" name={name} />}
    </li>
  );
}

function Users({ use: { apps, devices }, base }: { use: ModelUse; base: string }) {
  return (
    <>
      {apps.map(({ id, name, versions }, i) => (
        <>
          {i > 0 && ", "}
          <a href={`${base}/apps/${id}`}>
            <Breakable text={name} />
          </a>{" "}
          ({versions.length === 1 ? "version" : "versions"} <Versions all={versions} base={`${base}/apps/${id}`} />)
        </>
      ))}
      {devices > 0 ? `, on ${countText(devices, "device")}` : ", on no device"}
    </>
  );
}

/**
 * Number of versions of an application that are shown with a link, the newest first. Older versions are only counted.
 */
const LINKED_VERSIONS = 5;

function Versions({ all, base }: { all: readonly number[]; base: string }) {
  const more = all.length - LINKED_VERSIONS;
  return (
    <>
      {all.slice(0, LINKED_VERSIONS).map((number, i) => (
        <>
          {i > 0 && ", "}
          <a href={`${base}/versions/${number}`}>{number}</a>
        </>
      ))}
      {more > 0 && ` and ${more} more`}
    </>
  );
}
