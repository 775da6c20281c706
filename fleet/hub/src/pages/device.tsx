/** The page of one device: status, application, last picture, groups, history and credential. */
import type { Child } from "hono/jsx";
import { checkNonce, makeNonce } from "../auth/cookie.ts";
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
import { notFound, PAGE_POLICY, type Answer } from "./answer.tsx";
import { History, HISTORY_HOURS, LastPicture, mayFrame, StatusFacts } from "./device-parts.tsx";
import { agentSection, applicationSection, snapSection } from "./device-sections.tsx";
import { PauseForm } from "./device-pause.tsx";
import { logSection } from "./device-logs.tsx";
import { ButtonForm, Field, LinkButton, PostForm, Question, Select, Submit, type Choice } from "./forms.tsx";
import { changeOf, frameOf, queryOf, showPage, type Guards, type Member } from "./guards.tsx";
import { List } from "./layout.tsx";
import { NewAdoptKey } from "./new-adopt-key.tsx";
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
  const { db } = site;
  const base = "/teams/:team/devices/:device";
  const page = guards.page(base, (visit, problem) => devicePage(site, visit, problem));
  const form = (path: string, work: (visit: Member, device: DeviceRow) => Promise<string | Answer>): void =>
    page(path, async (visit) => {
      const device = await findDevice(db, visit.team.id, visit.param("device"));
      return device === undefined ? notFound(frameOf(visit, "Not found", "devices")) : work(visit, device);
    });
  form(`${base}/groups`, async (visit, { id, name }) => {
    const { group } = await addToGroup(db, changeOf(site, visit), visit.form("group"), [id]);
    return `${name} is in ${group.name} now.`;
  });
  form(`${base}/leave`, async (visit, { id, name }) => {
    const { group } = await removeFromGroup(db, changeOf(site, visit), visit.form("group"), [id]);
    return `${name} is not in ${group.name} any more.`;
  });
  form(`${base}/revoke`, async (visit, device) => {
    await revokeDevice(db, changeOf(site, visit), device);
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
    await clearConflict(db, changeOf(site, visit), device);
    return `Noted: ${device.name} is one device.`;
  });
  form(`${base}/adopt`, async (visit, { id, name }) => {
    const nonce = visit.form("nonce");
    checkNonce(visit.session, adoptPurpose(id), nonce);
    const wanted = { name, days: ADOPT_DAYS, devices: 1, groupIds: [], deviceId: id };
    const key = await createAdoptKey(db, changeOf(site, visit), nonce, wanted);
    const content = <NewAdoptKey made={key} baseUrl={site.baseUrl} back={addressOf(visit)} backText={name} />;
    return showPage(visit, ["Adopt key", "devices"], content, { status: key === undefined ? 409 : 201 });
  });
}

const adoptPurpose = (id: string): string => `adopt ${id}`;

const addressOf = ({ team, param }: Member): string =>
  `/teams/${team.id}/devices/${encodeURIComponent(param("device"))}`;

async function devicePage(site: Site, visit: Member, problem?: UserError): Promise<Answer> {
  const { db, now, baseUrl } = site;
  const { team, session } = visit;
  const address = addressOf(visit);
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
  const credentials = await credentialsOf(db, team.id, found.id);
  const content = (
    <>
      {state !== undefined && state.conflict_at !== null && (
        <Conflict address={address} at={state.conflict_at} now={time} />
      )}
      <p class="soft">
        <code>{device.id}</code>
      </p>
      {state === undefined ? (
        <p>This device has never enrolled. Somebody typed it in.</p>
      ) : (
        <StatusFacts state={state} now={time} />
      )}
      {state !== undefined && <PauseForm address={address} state={state} now={time} />}
      {host !== undefined && <LastPicture address={host} isFramed={mayFrame(host, baseUrl)} />}
      {sections}
      <h2>Groups</h2>
      <Groups address={address} groups={await groupsOf(db, team.id, found.id)} all={await listGroups(db, team.id)} />
      <h2>Tags</h2>
      <PostForm action={`${address}/tags`} class="line">
        <Field
          {...{ label: "Tags, with commas between them", name: "tags", maxlength: 2000 }}
          value={(await tagsOf(db, team.id, found.id)).join(", ")}
        />
        <Submit>Save</Submit>
      </PostForm>
      {state !== undefined && (
        <>
          <h2>History</h2>
          <History hours={[...hours, ...current]} now={time} beatSeconds={state.beat_seconds} />
        </>
      )}
      <h2>Credential</h2>
      <Credential
        {...{ address, state, credentials, now: time }}
        nonce={makeNonce(session, adoptPurpose(found.id))}
        asks={queryOf(visit).has("revoke")}
      />
      <p class="actions">
        <a href={`/teams/${team.id}/audit?subject=${encodeURIComponent(found.id)}`}>What was done to this device</a>
      </p>
    </>
  );
  if (host === undefined || !mayFrame(host, baseUrl))
    return showPage(visit, [device.name, "devices"], content, { problem });
  const headers = { "content-security-policy": `${PAGE_POLICY}; frame-src ${new URL(host).origin}` };
  return showPage(visit, [device.name, "devices"], content, { problem, headers });
}

function Conflict({ address, at, now }: { address: string; at: number; now: number }) {
  return (
    <div class="message error">
      <p>
        Two machines seem to use the credential of this device, last seen <Ago at={at} now={now} />. A disk or a folder
        was copied. Adopt each machine by a key of its own, and revoke this credential.
      </p>
      <ButtonForm action={`${address}/one`} label="It is one device" />
    </div>
  );
}

function Groups({ address, groups, all }: { address: string; groups: readonly Group[]; all: readonly Group[] }) {
  const others = all.filter(({ id }) => !groups.some((group) => group.id === id));
  const choices = others.map(({ id, name }): Choice => [id, name]);
  return (
    <>
      {groups.length === 0 && <p class="soft">In no group.</p>}
      <List label="Groups of this device">
        {groups.map(({ id, name }) => (
          <li>
            <span class="what">{name}</span>
            <ButtonForm
              {...{ action: `${address}/leave`, class: "do", fields: { group: id } }}
              {...{ label: "Take out", name: `of ${name}` }}
            />
          </li>
        ))}
      </List>
      {others.length > 0 && (
        <PostForm action={`${address}/groups`} class="line">
          <Select {...{ id: "to-group", name: "group", label: "Group", choices }} />
          <Submit>Add to group</Submit>
        </PostForm>
      )}
    </>
  );
}

interface CredentialProps {
  readonly address: string;
  readonly nonce: string;
  readonly state: DeviceState | undefined;
  readonly credentials: readonly ListedCredential[];
  /** True if the page asks for confirmation of the revocation. */
  readonly asks: boolean;
  readonly now: number;
}

function Credential({ address, nonce, state, credentials, asks, now }: CredentialProps) {
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
      {oldest !== undefined && !asks && <LinkButton href={`${address}?revoke=`} label="Revoke the credential" />}
      {oldest !== undefined && asks && (
        <Question action={`${address}/revoke`} back={address} button="Revoke it">
          Revoke the credential? The device goes on by itself, and hub and hosts refuse it until it enrols anew.
        </Question>
      )}
      {oldest === undefined && (
        <PostForm action={`${address}/adopt`} fields={{ nonce }}>
          <p>An adopt key for this device gives it an identity. The device keeps its id and its name.</p>
          <Submit kind="main">Make an adopt key</Submit>
        </PostForm>
      )}
    </>
  );
}
