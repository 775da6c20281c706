/**
 * Moves roll-outs with gates: opens their next step, ends them after the last step, or stops them. All state is in
 * rows, so that a restart loses nothing. If several hub processes try a move at the same time, the revision lets only
 * one succeed.
 */
import type { Database, Queries } from "boxwright-service/database";
import { messageOf, UnavailableError } from "boxwright-service/errors";
import type { Logger } from "boxwright-service/log";
import { ASSIGNMENT_COLUMNS, NO_ROLLOUT, type Assignment } from "./assignment.ts";
import { audit, type AuditAction } from "./audit.ts";
import { countChange } from "./changes.ts";
import { idsInShare, lastStates } from "./desired.ts";
import { hasWaited, isOverError, isSuccess, nextStep, parseGates, type Gates, type StepCount } from "./gates.ts";
import { parseShadow } from "./shadow.ts";
import { judgeShadow, readShadowResult, shadowText } from "./shadow-report.ts";
import { isInShadow } from "./shadow-task.ts";
import type { Desired } from "./waiting.ts";

interface Needs {
  readonly db: Database;
  readonly desired: Desired;
  readonly now: () => number;
}

type Rollout = Assignment & { readonly team_id: string; readonly identifier: string };

/** Actor in the audit for moves that no person makes. */
const ACTOR = "hub";

/**
 * Checks all running roll-outs with gates every few seconds.
 * @returns a function that ends the checks
 */
export function watchRollouts(needs: Needs & { readonly log: Logger }, everyMs: number): () => Promise<void> {
  let loggedReason = "";
  let work: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    try {
      await moveRollouts(needs);
      loggedReason = "";
    } catch (error) {
      // Log each reason once, since this runs every few seconds.
      if (messageOf(error) !== loggedReason && !(error instanceof UnavailableError))
        needs.log.error({ err: error }, "roll-outs could not be looked at; the next time will try again");
      loggedReason = messageOf(error);
    }
  };
  const timer = setInterval(() => void (work ??= look().finally(() => (work = undefined))), everyMs).unref();
  return async () => {
    clearInterval(timer);
    await work;
  };
}

/** Checks all running roll-outs with gates once. */
export async function moveRollouts({ db, desired, now }: Needs): Promise<void> {
  const failures: unknown[] = [];
  const rollouts = await db.all<Rollout>(
    `SELECT a.team_id AS team_id, p.identifier AS identifier, ${ASSIGNMENT_COLUMNS.map((name) => `a.${name} AS ${name}`).join(", ")} ` +
      "FROM assignments a JOIN apps p ON p.team_id = a.team_id AND p.id = a.app_id WHERE a.gates IS NOT NULL AND a.rollout_state = 'running'",
  );
  for (const rollout of rollouts)
    try {
      const gates = parseGates(rollout.gates)!;
      const move = isInShadow(rollout)
        ? await endShadow({ db, desired, now }, rollout, gates)
        : chooseMove(rollout, gates, await countStep(db, desired, rollout), now());
      if (move === undefined) continue;
      if (await makeMove(db, rollout, move, now())) desired.wake(rollout.team_id);
    } catch (error) {
      // Continue: an unreadable roll-out must not block the others.
      failures.push(error);
    }
  if (failures.length > 0) throw failures[0] as Error;
}

async function countStep(db: Queries, desired: Desired, rollout: Rollout): Promise<StepCount> {
  const versions = await desired.all(rollout.team_id, rollout.purpose);
  const states = await lastStates(db, rollout.team_id, rollout);
  const count = { devices: 0, applied: 0, failed: 0 };
  for (const id of await idsInShare(versions, rollout)) {
    const reported = states.get(id);
    if (reported?.state === "failed" && reported.at < rollout.changed_at) continue;
    count.devices++;
    if (reported !== undefined) count[reported.state]++;
  }
  return count;
}

interface Move {
  readonly action: AuditAction;
  /** Description of the move for the audit. */
  readonly text: string;
  readonly columns: Partial<Assignment>;
}

/** Returns the next move of a roll-out, or undefined if there is none. */
function chooseMove(rollout: Rollout, gates: Gates, count: StepCount, now: number): Move | undefined {
  const { share, next_version: version, failure_limit, step_at } = rollout;
  const limit = failure_limit ?? 1;
  if (isOverError(gates, limit, count)) {
    const text = `${count.failed} of ${count.devices} cannot use it`;
    return { action: "rollout.stopped", text, columns: { rollout_state: "stopped" } };
  }
  if (!isSuccess(gates, limit, count) || !hasWaited(gates, step_at ?? 0, now)) return undefined;
  const text = `${count.applied} of ${count.devices} use it`;
  if (share === 100) return { action: "rollout.completed", text, columns: { version, ...NO_ROLLOUT } };
  const next = nextStep(gates, share ?? 0);
  if (next === undefined) return undefined;
  return { action: "rollout.step_opened", text: `${next} %, ${text}`, columns: { share: next, step_at: now } };
}

/** Returns the move that the shadow's result decides, or undefined while the shadow goes on. */
async function endShadow(needs: Needs, rollout: Rollout, gates: Gates): Promise<Move | undefined> {
  const shadow = parseShadow(rollout.shadow)!;
  const { result } = await readShadowResult(needs, rollout.team_id, rollout, shadow);
  const now = needs.now();
  const verdict = judgeShadow(shadow, result);
  const text = shadowText(result);
  if (verdict === "stop") return { action: "rollout.stopped", text, columns: { rollout_state: "stopped" } };
  if (verdict === "wait" || !hasWaited(gates, rollout.step_at ?? 0, now)) return undefined;
  const [share] = gates.steps;
  return { action: "rollout.step_opened", text: `${share} %, ${text}`, columns: { share: share!, step_at: now } };
}

/**
 * Writes a move, unless a person changed the roll-out meanwhile. Keeps `changed_at`: only failures after this time
 * count, and a device in several sets follows the set with the latest time.
 */
async function makeMove(
  db: Database,
  rollout: Rollout,
  { action, text, columns }: Move,
  now: number,
): Promise<boolean> {
  const { team_id, kind, target_id, purpose, revision, identifier, next_version } = rollout;
  return db.write(async (tx) => {
    const names = Object.keys(columns) as (keyof Assignment)[];
    const written = await tx.all(
      `UPDATE assignments SET ${names.map((name) => `${name} = ?`).join(", ")}, revision = revision + 1 ` +
        "WHERE team_id = ? AND kind = ? AND target_id = ? AND purpose = ? AND revision = ? RETURNING 1 AS done",
      [...names.map((name) => columns[name] ?? null), team_id, kind, target_id, purpose, revision],
    );
    if (written.length === 0) return false;
    await audit(tx, now, ACTOR, action, team_id, `${identifier} ${next_version} ${kind} ${target_id}: ${text}`);
    await countChange(tx, team_id);
    return true;
  });
}
