/**
 * Keeps the desired version of each device in memory, so that heartbeats and waiting requests need no query. A change
 * in this process wakes the team's waiting devices at once. Changes by other processes and commands increase a counter
 * in the database, which each process reads once a second.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Database } from "boxwright-service/database";
import { UnavailableError } from "boxwright-service/errors";
import type { Purpose } from "./application.ts";
import { readChangeMark, readChanges } from "./changes.ts";
import { resolveDesired, type DesiredVersion } from "./desired.ts";
import { shadowsOf, type ShadowTask } from "./shadow-task.ts";

const POLL_MS = 1000;
/**
 * Milliseconds for which changes are collected before a team is read again: if a hundred devices join a group, one read
 * is enough.
 */
const GATHER_MS = 50;
/**
 * Number of waiting requests that are woken before other requests get their turn. Waking all at once would block the
 * hub.
 */
const WOKEN_A_TURN = 20;
/**
 * Largest number of teams in memory. For one more team, the hub forgets a team without waiting devices, and reads that
 * team again when needed.
 */
const MAX_TEAMS = 1000;

interface TeamState {
  /** Number that grows with each wake. Versions read under a smaller number may be outdated. */
  generation: number;
  versions: ReadonlyMap<string, DesiredVersion> | undefined;
  /**
   * Versions of the agent, which devices learn from the answers to heartbeats: no request waits for a change. Read
   * together with `versions`.
   */
  agents: ReadonlyMap<string, DesiredVersion>;
  /** Tasks of devices in a shadow. Devices learn their tasks from the answers to heartbeats, too. */
  shadows: ReadonlyMap<string, ShadowTask>;
  loading: Promise<void> | undefined;
  /** Waiting requests, by device. */
  readonly waiting: Map<string, Set<Waiter>>;
}

/** A request that waits until its device should run another version than `etag`. */
interface Waiter {
  readonly etag: string | null;
  /** Ends the wait. */
  readonly end: () => void;
}

export interface DesiredOptions {
  readonly db: Database;
  readonly onError: (error: unknown) => void;
}

export interface WaitOptions {
  readonly milliseconds: number;
  /** Registers a function to call when the caller hangs up. */
  readonly onHangUp: (work: () => void) => void;
}

export class Desired {
  readonly #db: Database;
  readonly #onError: (error: unknown) => void;
  readonly #teams = new Map<string, TeamState>();
  #mark: string | undefined;
  #counts: ReadonlyMap<string, number> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor({ db, onError }: DesiredOptions) {
    this.#db = db;
    this.#onError = onError;
  }

  /** Starts polling for changes in other processes. */
  start(): void {
    this.#timer = setInterval(() => void this.poll().catch(this.#onError), POLL_MS).unref();
  }

  /** Answers all waiting requests. Later requests do not wait. */
  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    for (const { waiting } of this.#teams.values())
      for (const set of waiting.values()) for (const { end } of set) end();
  }

  /** Count of waiting requests. */
  get waiting(): number {
    let count = 0;
    for (const { waiting } of this.#teams.values()) for (const set of waiting.values()) count += set.size;
    return count;
  }

  /**
   * Returns the version that a device should run, or undefined if there is none. Queries the database only if the team
   * is not in memory.
   */
  async version(teamId: string, deviceId: string): Promise<DesiredVersion | undefined> {
    return (await this.#loaded(teamId)).versions!.get(deviceId);
  }

  /**
   * Returns the version of the agent that a device should run. Undefined if the device may keep its version. Costs as
   * much as `version`.
   */
  async agent(teamId: string, deviceId: string): Promise<DesiredVersion | undefined> {
    return (await this.#loaded(teamId)).agents.get(deviceId);
  }

  /** Returns the shadow task of a device; undefined if the device has no task. Costs as much as `version`. */
  async shadow(teamId: string, deviceId: string): Promise<ShadowTask | undefined> {
    return (await this.#loaded(teamId)).shadows.get(deviceId);
  }

  /** Returns the shadow tasks of a team's devices, including earlier changes by other processes. */
  async shadows(teamId: string): Promise<ReadonlyMap<string, ShadowTask>> {
    await this.poll();
    return (await this.#loaded(teamId)).shadows;
  }

  /** Returns the versions that all devices of a team should run, including earlier changes by other processes. */
  async all(teamId: string, purpose: Purpose): Promise<ReadonlyMap<string, DesiredVersion>> {
    await this.poll();
    const { versions, agents } = await this.#loaded(teamId);
    return purpose === "agent" ? agents : versions!;
  }

  async #loaded(teamId: string): Promise<TeamState> {
    const team = this.#team(teamId);
    while (team.versions === undefined) {
      if (this.#isStopped) throw new UnavailableError("the hub is stopping");
      await (team.loading ??= this.#load(teamId, team));
    }
    return team;
  }

  /** Returns the ETag, without quotes, of the version that a device should run. */
  async etag(teamId: string, deviceId: string): Promise<string | null> {
    return (await this.version(teamId, deviceId))?.etag ?? null;
  }

  /**
   * Returns the versions that the given devices should run, by device id, including earlier changes by other processes.
   */
  async latest(teamId: string, deviceIds: readonly string[]): Promise<Map<string, DesiredVersion>> {
    await this.poll();
    const found = new Map<string, DesiredVersion>();
    for (const id of deviceIds) {
      const version = await this.version(teamId, id);
      if (version !== undefined) found.set(id, version);
    }
    return found;
  }

  /**
   * Waits until a device should run a version other than `etag`, or until the time is up. `etag` is null if the device
   * has no version.
   */
  async waitForOther(
    teamId: string,
    deviceId: string,
    etag: string | null,
    { milliseconds, onHangUp }: WaitOptions,
  ): Promise<DesiredVersion | undefined> {
    const until = performance.now() + milliseconds;
    let hungUp = false;
    let end = (): void => undefined;
    onHangUp(() => {
      hungUp = true;
      end();
    });
    for (;;) {
      const version = await this.version(teamId, deviceId);
      const left = until - performance.now();
      if ((version?.etag ?? null) !== etag || left <= 0 || hungUp || this.#isStopped) return version;
      await new Promise<void>((done) => (end = this.#sleep(this.#team(teamId), deviceId, { etag, left, done })));
    }
  }

  /** Calls `done` when the device is woken, or after `left` milliseconds. Returns a function that ends the wait. */
  #sleep(
    { waiting, versions }: TeamState,
    deviceId: string,
    { etag, left, done }: { readonly etag: string | null; readonly left: number; readonly done: () => void },
  ): () => void {
    const set = waiting.get(deviceId) ?? new Set();
    waiting.set(deviceId, set);
    const end = (): void => {
      clearTimeout(timer);
      set.delete(waiter);
      if (set.size === 0 && waiting.get(deviceId) === set) waiting.delete(deviceId);
      done();
    };
    const waiter: Waiter = { etag, end };
    const timer = setTimeout(end, left);
    set.add(waiter);
    // Check again: the version may have changed since the caller looked, and nothing would wake this request.
    if (versions !== undefined && (versions.get(deviceId)?.etag ?? null) !== etag) end();
    return end;
  }

  /** Reads again which versions the devices of a team should run. Call this after the transaction of a change. */
  wake(teamId: string): void {
    const team = this.#teams.get(teamId);
    if (team === undefined) return;
    team.generation++;
    // Clear the versions, so that the next call of `version` waits for the new ones.
    team.versions = undefined;
    team.loading ??= this.#load(teamId, team);
    team.loading.catch(this.#onError);
  }

  /** Reads a team from the database, and wakes the devices whose version changed. */
  async #load(teamId: string, team: TeamState): Promise<void> {
    try {
      for (;;) {
        const { generation } = team;
        if (generation > 0) await sleep(GATHER_MS);
        if (this.#isStopped) return;
        const versions = await resolveDesired(this.#db, teamId);
        const agents = await resolveDesired(this.#db, teamId, { purpose: "agent" });
        if (generation !== team.generation) continue;
        team.agents = agents;
        team.shadows = shadowsOf(versions);
        team.versions = versions;
        await wakeChanged(team, versions);
        if (generation === team.generation) return;
      }
    } finally {
      team.loading = undefined;
    }
  }

  /** Checks for teams that other processes changed. */
  async poll(): Promise<void> {
    if (this.#teams.size === 0) return;
    const mark = await readChangeMark(this.#db);
    if (mark === this.#mark) return;
    const counts = await readChanges(this.#db);
    this.#mark = mark;
    const before = this.#counts;
    this.#counts = counts;
    for (const teamId of this.#teams.keys())
      if (before === undefined || before.get(teamId) !== counts.get(teamId)) this.wake(teamId);
  }

  #team(teamId: string): TeamState {
    let team = this.#teams.get(teamId);
    if (team !== undefined) return team;
    if (this.#teams.size >= MAX_TEAMS)
      for (const [id, { waiting }] of this.#teams)
        if (waiting.size === 0) {
          this.#teams.delete(id);
          break;
        }
    team = {
      generation: 0,
      versions: undefined,
      agents: new Map(),
      shadows: new Map(),
      loading: undefined,
      waiting: new Map(),
    };
    this.#teams.set(teamId, team);
    return team;
  }
}

/** Wakes the requests whose devices should run another version than they have. Wakes a few requests at a time. */
async function wakeChanged({ waiting }: TeamState, versions: ReadonlyMap<string, DesiredVersion>): Promise<void> {
  const changed: Waiter[] = [];
  for (const [deviceId, set] of waiting) {
    const etag = versions.get(deviceId)?.etag ?? null;
    for (const waiter of set) if (waiter.etag !== etag) changed.push(waiter);
  }
  for (const [i, { end }] of changed.entries()) {
    end();
    if (i % WOKEN_A_TURN === WOKEN_A_TURN - 1) await nextTurn();
  }
}
