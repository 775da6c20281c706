/** Checks a draft of an application completely: its JSON, its model file, and the config and options by boxwright. */
import type { Database } from "boxwright-service/database";
import { UserError } from "../core/errors.ts";
import type { Files } from "../files/files.ts";
import { agentContent, contentOf, describeRelease } from "../nouns/application.ts";
import { readDraft, type AppContent } from "../nouns/application-content.ts";
import type { Checker } from "./check.ts";

export interface DraftChecks {
  readonly db: Database;
  readonly files: Files;
  readonly checker: Checker;
}

/** A draft that passed all checks and can be saved. */
export interface CheckedDraft {
  readonly content: AppContent;
  readonly description: string;
}

/** Checks a signed release of the agent. @throws UserError */
export async function checkRelease(db: Database, teamId: string, given: unknown): Promise<CheckedDraft> {
  const content = await agentContent(db, teamId, given);
  return { content, description: describeRelease(content.release!) };
}

/**
 * Checks a draft.
 * @throws UserError with every problem that boxwright found
 */
export async function checkDraft(
  { db, files, checker }: DraftChecks,
  teamId: string,
  given: Parameters<typeof readDraft>[0],
): Promise<CheckedDraft> {
  const content = await contentOf(db, teamId, readDraft(given));
  const { config, options, model } = content;
  const check = (modelPath: string | null) => checker.check({ config, options, modelPath });
  const { problems, description } = await (model === null
    ? check(null)
    : files.withPath({ team: teamId, kind: "models", sha256: model.sha256 }, check));
  if (problems !== undefined)
    throw new UserError(
      problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("\n"),
    );
  // Replace NUL, since a label may hold this character and PostgreSQL refuses NUL in text.
  return { content, description: description.replaceAll("\0", "\ufffd") };
}
