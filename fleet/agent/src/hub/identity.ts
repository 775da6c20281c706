/**
 * The device's identity at its hub, stored in the file `hub.json` of the state folder. Only the agent's user can read
 * this file.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "boxwright-service/schema/json";
import { readIfThere, replaceFile } from "../core/files.ts";

export interface Identity {
  /** Address of the hub. */
  readonly hub: string;
  readonly deviceId: string;
  readonly credential: string;
  /** Former credential, kept until the hub accepts the new one; null if there is none. */
  readonly previous: string | null;
  readonly name: string;
  readonly team: string;
  /** Last token for hosts; null if there was none yet. */
  readonly token: string | null;
}

export class IdentityFile {
  readonly #path: string;
  readonly #state: string;

  constructor(state: string) {
    this.#state = state;
    this.#path = join(state, "hub.json");
  }

  /**
   * Returns the identity, or null if the device is not enrolled.
   * @throws Error if the file is damaged
   */
  read(): Identity | null {
    const text = readIfThere(this.#path);
    if (text === null) return null;
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      // Ignore the error: the check below reports it.
    }
    const { hub, deviceId, credential, previous, name, team, token } = isObject(json) ? json : {};
    if (![hub, deviceId, credential].every((value) => typeof value === "string" && value !== ""))
      throw new Error(
        `${this.#path} is damaged, expected what an enrolment left. Delete it and enrol the device again`,
      );
    const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
    return {
      ...{ hub: textOf(hub), deviceId: textOf(deviceId), credential: textOf(credential) },
      ...{ name: textOf(name), team: textOf(team), previous: textOf(previous) || null, token: textOf(token) || null },
    };
  }

  write(identity: Identity): void {
    replaceFile(this.#path, `${JSON.stringify(identity, null, 2)}\n`);
  }

  /**
   * Deletes what an earlier enrolment left: the application, the log, which may name another team's devices, and snaps
   * that wait for the earlier team.
   */
  forgetOthers(): void {
    for (const name of ["application.json", "application.good.json", "application.starts.json", "last-log"])
      rmSync(join(this.#state, name), { force: true });
    rmSync(join(this.#state, "snaps"), { recursive: true, force: true });
  }
}
