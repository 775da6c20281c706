/** The page of one device: status, application, last picture, groups, history and credential. */
import type { Child } from "hono/jsx";
import { checkNonce, csrfOf, makeNonce } from "../auth/cookie.ts";
import type { UserError } from "../core/errors.ts";
import { createAdoptKey } from "../nouns/adoptkey.ts";
import { silence } from "../nouns/alert-silence.ts";
import { credentialsOf, revokeDevice, type ListedCredential } from "../nouns/credential.ts";
import { findDevice, readStates, type DeviceRow } from "../nouns/device-query.ts";
import { addToGroup, groupsOf, listGroups, removeFromGroup, type Group } from "../nouns/group.ts";
import { setDeviceTags, splitTags, tagsOf } from "../nouns/device-tag.ts";
import { requestLog } from "../nouns/device-log.ts";
import { setPaused } from "../nouns/pause.ts";
import { clearConflict, hoursOf, type DeviceState } from "../nouns/status.ts";
import { Ago } from "./ago.tsx";
import { alertSection } from "./alerts.tsx";
import { notFound, PAGE_POLICY, redirect, show, type Answer } from "./answer.tsx";
import { History, HISTORY_HOURS, LastPicture, mayFrame, StatusFacts } from "./device-parts.tsx";
import { agentSection, applicationSection, snapSection } from "./device-sections.tsx";
import { Tags } from "./device-tags.tsx";
import { PauseForm } from "./device-pause.tsx";
import { logSection } from "./device-logs.tsx";
import { changeOf, frameOf, type Guards, type Member } from "./guards.tsx";
import { Csrf } from "./layout.tsx";
import { NewAdoptKey } from "./new-adopt-key.tsx";
import { Notices, sayAt } from "./said.tsx";
import type { Site } from "./site.ts";

/** A device with the data that its page shows. */
interface ShownDevice extends DeviceRow {
  /** State of the device. Undefined if the device never enrolled. */
  readonly state: DeviceState | undefined;
}

/** Sections below the status, in their order. */
const SECTIONS: readonly ((site: Site, visit: Member, device: ShownDevice) => Promise<Child>)[] = [
  applicationSection,
  agentSection,
  snapSection,
  alertSection,
  logSection,
];

/**
 * Days for which the adopt key of an existing device is valid. One day is enough, since people use such a key at once.
 */
const ADOPT_DAYS = 1;

export function registerDevice(site: Site, guards: Guards): void {
  const { db, now } = site;
  const base = "/teams/:team/devices/:device";
  /** Registers a form of the page. `work` returns the message that the page then shows, or a complete answer. */
  const form = (path: string, work: (visit: Member, device: DeviceRow) => Promise<string | Answer>): void => {
    guards.member.get(path, (visit) => redirect(addressOf(visit)));
    guards.member.change(
      path,
      async (visit) => {
        const device = await findDevice(db, visit.team.id, visit.param("device"));
        if (device === undefined) return notFound(frameOf(visit, "Not found", "devices"));
        const done = await work(visit, device);
        return typeof done === "string" ? redirect(sayAt(visit.session, addressOf(visit), { text: done })) : done;
      },
      (visit, problem) => devicePage(site, visit, problem),
    );
  };
  const placed = ({ team }: Member, { id, name }: DeviceRow) => ({ teamId: team.id, id, name });

  guards.member.get(base, (visit) => devicePage(site, visit));
  form(`${base}/groups`, async (visit, { id, name }) => {
    const { group } = await addToGroup(db, changeOf(site, visit), visit.form("group"), [id]);
    return `${name} is in ${group.name} now.`;
  });
  form(`${base}/leave`, async (visit, { id, name }) => {
    const { group } = await removeFromGroup(db, changeOf(site, visit), visit.form("group"), [id]);
    return `${name} is not in ${group.name} any more.`;
  });
  form(`${base}/revoke`, async (visit, device) => {
    await revokeDevice(db, now(), visit.session.user.email, placed(visit, device));
    return `The credential of ${device.name} is revoked. The hub refuses it now, hosts within a minute.`;
  });
  form(`${base}/pause`, async (visit, { id, name }) => {
    await setPaused(db, changeOf(site, visit), id, true);
    return `${name} takes no frames from its next heartbeat on.`;
  });
  form(`${base}/resume`, async (visit, { id, name }) => {
    await setPaused(db, changeOf(site, visit), id, false);
    return `${name} takes frames again, from its next heartbeat on.`;
  });
  form(`${base}/log`, async (visit, { id, name }) => {
    await requestLog(db, changeOf(site, visit), id);
    return `Asked. The log of ${name} comes after its next heartbeat.`;
  });
  form(`${base}/tags`, async (visit, { id, name }) => {
    await setDeviceTags(db, changeOf(site, visit), id, splitTags(visit.form("tags")));
    return `The tags of ${name} are saved.`;
  });
  form(`${base}/silence`, async (visit, { id, name }) => {
    const minutes = Number(visit.form("minutes"));
    await silence(db, changeOf(site, visit), { kind: "device", id, minutes });
    return minutes === 0
      ? `Alerts of ${name} are told again.`
      : `${name} is silent. Its alerts are noted all the same.`;
  });
  form(`${base}/one`, async (visit, device) => {
    await clearConflict(db, now(), visit.session.user.email, placed(visit, device));
    return `Noted: ${device.name} is one device.`;
  });
  form(`${base}/adopt`, async (visit, { id, name }) => {
    const nonce = visit.form("nonce");
    checkNonce(visit.session, adoptPurpose(id), nonce);
    const wanted = { name, days: ADOPT_DAYS, devices: 1, groupIds: [], deviceId: id };
    const key = await createAdoptKey(db, now(), visit.session.user.email, visit.team.id, nonce, wanted);
    const content = <NewAdoptKey made={key} baseUrl={site.baseUrl} back={addressOf(visit)} backText={name} />;
    return show(frameOf(visit, "Adopt key", "devices"), content, key === undefined ? 409 : 201);
  });
}

const adoptPurpose = (id: string): string => `adopt ${id}`;

const addressOf = ({ team, param }: Member): string =>
  `/teams/${team.id}/devices/${encodeURIComponent(param("device"))}`;

async function devicePage(site: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { db, now, baseUrl } = site;
  const { team, session, exchange } = visit;
  const found = await findDevice(db, team.id, visit.param("device"));
  if (found === undefined) return notFound(frameOf(visit, "Not found", "devices"));
  const state = (await readStates(db, team.id, [found.id])).get(found.id);
  const device: ShownDevice = { ...found, state };
  const time = now();
  const host = state?.host_url ?? undefined;
  const sections = [];
  for (const section of SECTIONS) sections.push(await section(site, visit, device));
  const hours = await hoursOf(db, team.id, found.id, time, HISTORY_HOURS);
  const current = state?.hour == null ? [] : [{ ...state, hour: state.hour }];
  const csrf = csrfOf(session);
  const credentials = await credentialsOf(db, team.id, found.id);
  const content = (
    <>
      <Notices visit={visit} problem={problem} />
      {state !== undefined && state.conflict_at !== null && (
        <Conflict address={addressOf(visit)} csrf={csrf} at={state.conflict_at} now={time} />
      )}
      <p class="soft">
        <code>{device.id}</code>
      </p>
      {state === undefined ? (
        <p>This device has never enrolled. Somebody typed it in.</p>
      ) : (
        <StatusFacts state={state} now={time} />
      )}
      {state !== undefined && <PauseForm address={addressOf(visit)} csrf={csrf} state={state} now={time} />}
      {host !== undefined && <LastPicture address={host} isFramed={mayFrame(host, baseUrl)} />}
      {sections}
      <h2>Groups</h2>
      <Groups
        address={addressOf(visit)}
        csrf={csrf}
        groups={await groupsOf(db, team.id, found.id)}
        all={await listGroups(db, team.id)}
      />
      <h2>Tags</h2>
      <Tags address={addressOf(visit)} csrf={csrf} tags={await tagsOf(db, team.id, found.id)} />
      {state !== undefined && (
        <>
          <h2>History</h2>
          <History hours={[...hours, ...current]} now={time} beatSeconds={state.beat_seconds} />
        </>
      )}
      <h2>Credential</h2>
      <Credential
        address={addressOf(visit)}
        csrf={csrf}
        nonce={makeNonce(session, adoptPurpose(found.id))}
        state={state}
        credentials={credentials}
        asks={new URLSearchParams(exchange.search).has("revoke")}
        now={time}
      />
      <p class="actions">
        <a href={`/teams/${team.id}/audit?subject=${encodeURIComponent(found.id)}`}>What was done to this device</a>
      </p>
    </>
  );
  const policy =
    host === undefined || !mayFrame(host, baseUrl)
      ? {}
      : { "content-security-policy": `${PAGE_POLICY}; frame-src ${new URL(host).origin}` };
  return show(frameOf(visit, device.name, "devices"), content, problem?.status ?? 200, policy);
}

function Conflict({ address, csrf, at, now }: { address: string; csrf: string; at: number; now: number }) {
  return (
    <div class="message error">
      <p>
        Two machines seem to use the credential of this device, last seen <Ago at={at} now={now} />. A disk or a folder
        was copied. Adopt each machine by a key of its own, and revoke this credential.
      </p>
      <form method="post" action={`${address}/one`}>
        <Csrf value={csrf} />
        <button type="submit">It is one device</button>
      </form>
    </div>
  );
}

function Groups(props: { address: string; csrf: string; groups: readonly Group[]; all: readonly Group[] }) {
  const { address, csrf, groups, all } = props;
  const others = all.filter(({ id }) => !groups.some((group) => group.id === id));
  return (
    <>
      {groups.length === 0 && <p class="soft">In no group.</p>}
      {groups.length > 0 && (
        <ul class="list" aria-label="Groups of this device">
          {groups.map(({ id, name }) => (
            <li>
              <span class="what">{name}</span>
              <form method="post" action={`${address}/leave`} class="do">
                <Csrf value={csrf} />
                <input type="hidden" name="group" value={id} />
                <button type="submit" aria-label={`Take out of ${name}`}>
                  Take out
                </button>
              </form>
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <form method="post" action={`${address}/groups`} class="line">
          <Csrf value={csrf} />
          <div>
            <label for="to-group">Group</label>
            <select id="to-group" name="group">
              {others.map(({ id, name }) => (
                <option value={id}>{name}</option>
              ))}
            </select>
          </div>
          <button type="submit">Add to group</button>
        </form>
      )}
    </>
  );
}

interface CredentialProps {
  readonly address: string;
  readonly csrf: string;
  readonly nonce: string;
  readonly state: DeviceState | undefined;
  readonly credentials: readonly ListedCredential[];
  /** True if the page asks for confirmation of the revocation. */
  readonly asks: boolean;
  readonly now: number;
}

function Credential({ address, csrf, nonce, state, credentials, asks, now }: CredentialProps) {
  const [oldest] = credentials;
  return (
    <>
      {state !== undefined && (
        <p>
          Enrolled <Ago at={state.enrolled_at} now={now} />.{" "}
          {oldest === undefined ? (
            <strong>Revoked: the hub refuses this device.</strong>
          ) : (
            <>
              Credential <code>{oldest.id}</code>, made <Ago at={oldest.created_at} now={now} />
              {oldest.used_at === null && ", not used yet"}.
            </>
          )}
        </p>
      )}
      {oldest !== undefined && !asks && (
        <a class="button" href={`${address}?revoke=`}>
          Revoke the credential
        </a>
      )}
      {oldest !== undefined && asks && (
        <form method="post" action={`${address}/revoke`} class="question">
          <Csrf value={csrf} />
          <p>Revoke the credential? The device goes on by itself, and hub and hosts refuse it until it enrols anew.</p>
          <button class="danger" type="submit">
            Revoke it
          </button>
          <a class="button" href={address}>
            Keep it
          </a>
        </form>
      )}
      {oldest === undefined && (
        <form method="post" action={`${address}/adopt`}>
          <Csrf value={csrf} />
          <input type="hidden" name="nonce" value={nonce} />
          <p>An adopt key for this device gives it an identity. The device keeps its id and its name.</p>
          <button class="main" type="submit">
            Make an adopt key
          </button>
        </form>
      )}
    </>
  );
}
