/** Enrols the device: with an adopt key, the device gets an id and a credential from a hub. */
import type { Logger } from "pino";
import { readEnrolAnswer } from "boxwright-service/schema/protocol";
import { messageOf } from "boxwright-service/errors";
import { Backoff } from "boxwright-service/retry";
import { makeFolder } from "../core/files.ts";
import { SettingsError } from "../core/errors.ts";
import { ownId } from "../core/ids.ts";
import { wait } from "../core/wait.ts";
import type { HubSettings } from "../settings/schema.ts";
import { HubClient, HubRefusal, RevokedError, askHub } from "./client.ts";
import { ownPublicKey } from "./device-key.ts";
import { type Identity, IdentityFile } from "./identity.ts";
import { machine } from "../core/machine.ts";

/**
 * Enrols with an adopt key, and stores the credential. The enrolment can be repeated if the answer was lost, since the
 * hub recognises the device by its serial number.
 * @throws HubRefusal if the hub refuses the key, HubAwayError if there is no answer
 */
export async function enrol(state: string, { url, name }: HubSettings, adoptKey: string): Promise<Identity> {
  makeFolder(state);
  const { model, architecture, version } = machine;
  const body = {
    adopt_key: adoptKey,
    name,
    model,
    architecture,
    version,
    serial_number: ownId(state),
    public_key: ownPublicKey(state),
  };
  const { json } = await askHub(url, { method: "POST", path: "/device/enrol", body });
  const answer = readEnrolAnswer(json);
  const file = new IdentityFile(state);
  const identity = {
    ...{ hub: url, deviceId: answer.device_id, credential: answer.credential, previous: null, token: null },
    ...{ name: answer.name, team: answer.team },
  };
  file.forgetOthers();
  file.write(identity);
  return identity;
}

/**
 * Returns the identity of the device. Enrols the device if it has no identity yet, and waits for the hub without a
 * limit.
 * @throws SettingsError if the device is not enrolled and has no key, or the hub refuses the key
 */
export async function identify(state: string, settings: HubSettings, log: Logger): Promise<Identity> {
  const { url, adoptKey } = settings;
  const kept = new IdentityFile(state).read();
  if (kept?.hub === url) return kept;
  if (adoptKey === null) throw new SettingsError([{ path: "hub", message: notEnrolled(state, url, kept) }]);
  const backoff = new Backoff();
  for (let logged = ""; ;) {
    try {
      const identity = await enrol(state, settings, adoptKey);
      log.info({ device: identity.deviceId, name: identity.name, team: identity.team }, "enrolled");
      return identity;
    } catch (error) {
      if (error instanceof HubRefusal && !error.isForNow)
        throw new SettingsError([{ path: "hub.adoptKey", message: messageOf(error) }]);
      if (messageOf(error) !== logged) log.warn(`cannot enrol, trying again: ${messageOf(error)}`);
      logged = messageOf(error);
      await wait(backoff.next());
    }
  }
}

const notEnrolled = (state: string, url: string, kept: Identity | null): string =>
  kept === null
    ? `this device is not enrolled in ${url} (${state} has no credential). Make an adopt key on the hub's page, ` +
      "and give it as hub.adoptKey (--key), or run `boxwright-agent enrol`"
    : `got ${url}, but ${state} belongs to a device of ${kept.hub}. Give that address. If the hub has ` +
      "moved, stop the agent and run `boxwright-agent enrol SETTINGS.json --moved`. Or enrol anew with an adopt key";

/**
 * Stores a new address of the device's hub. The device keeps its credential, which the hub at the new address must
 * accept.
 * @throws SettingsError if the device is not enrolled, or the hub does not know the device
 */
export async function followHub(state: string, url: string): Promise<Identity> {
  const file = new IdentityFile(state);
  const kept = file.read();
  if (kept === null) throw new SettingsError([{ path: "--moved", message: notEnrolled(state, url, null) }]);
  const moved = { ...kept, hub: url, token: null };
  try {
    await new HubClient(file, moved).ask({ method: "POST", path: "/device/token" });
  } catch (error) {
    if (!(error instanceof RevokedError)) throw error;
    const message = `got a hub at ${url} that does not know this device, expected the one that was at ${kept.hub}`;
    throw new SettingsError([{ path: "--moved", message }]);
  }
  file.write(moved);
  return moved;
}

/** Returns the identity in the folder if the hub accepts its credential; else null. */
export async function acceptedIdentity(state: string, url: string): Promise<Identity | null> {
  const file = new IdentityFile(state);
  const identity = file.read();
  if (identity?.hub !== url) return null;
  try {
    await new HubClient(file, identity).ask({ method: "POST", path: "/device/token" });
    return identity;
  } catch (error) {
    if (error instanceof RevokedError) return null;
    throw error;
  }
}
