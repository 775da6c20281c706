/** The page of a team's alerts: open and ended alerts, rules and channels. */
import { queueTest } from "../alerts/tell.ts";
import { UserError } from "../core/errors.ts";
import {
  createChannel,
  deleteChannel,
  listChannels,
  needChannel,
  renameChannel,
  resendDropped,
  type ListedChannel,
} from "../nouns/alert-channel.ts";
import { ruleText } from "../nouns/alert-kind.ts";
import { countOpen, findAlerts, type Alert } from "../nouns/alert.ts";
import { createRule, deleteRule, listRules, updateRule, type AlertRule } from "../nouns/alert-rule.ts";
import { listSilences, silence, type Silence } from "../nouns/alert-silence.ts";
import { listDeviceTags } from "../nouns/device-tag.ts";
import { listGroups } from "../nouns/group.ts";
import { offlineMs } from "../nouns/status.ts";
import { targetNames } from "../nouns/target.ts";
import { countText } from "./ago.tsx";
import { ChannelForm, RuleChangeForm, RuleForm } from "./alert-forms.tsx";
import { AlertList, ChannelItem, RuleItem } from "./alert-parts.tsx";
import { SilenceForm, SilenceSection } from "./alert-silences.tsx";
import type { Answer } from "./answer.tsx";
import { NameForm } from "./forms.tsx";
import { changeOf, showPage, type PageForm, type Guards, type Member, type Open } from "./guards.tsx";
import { List, ShownOnce } from "./layout.tsx";
import type { Site } from "./site.ts";

/** Largest number of open alerts on the page, and largest number of ended alerts. */
const SHOWN = 50;

export function registerAlerts(site: Site, guards: Guards): void {
  const base = "/teams/:team/alerts";
  const form = guards.page(base, (visit, problem, open = {}) => alertsPage(site, visit, open, problem));
  registerRules(site, form, base);
  registerSilences(site, form, base);
  registerChannels(site, form, base);
}

function registerRules(site: Site, form: PageForm, base: string): void {
  const { db } = site;
  const readThreshold = (text: string): number | undefined => (text.trim() === "" ? undefined : Number(text));
  form(`${base}/rules`, async (visit) => {
    const { form: field } = visit;
    const { name } = await createRule(db, changeOf(site, visit), {
      kind: field("kind"),
      threshold: readThreshold(field("threshold")),
      groupId: field("group") || undefined,
      tag: field("tag") || undefined,
      channelId: field("channel") || undefined,
    });
    return `Watching: ${name}.`;
  });
  const change = async (visit: Member): Promise<string> => {
    const { form: field } = visit;
    const { name } = await updateRule(db, changeOf(site, visit), visit.param("rule"), {
      name: field("name").trim() || null,
      threshold: readThreshold(field("threshold")) ?? null,
      groupId: field("group") || null,
      tag: field("tag") || null,
      channelId: field("channel") || null,
    });
    return `Watching: ${name}.`;
  };
  form(`${base}/rules/:rule/change`, change, "rule");
  form(`${base}/rules/:rule/remove`, async (visit) => {
    const { name } = await deleteRule(db, changeOf(site, visit), visit.param("rule"));
    return `Deleted ${name}.`;
  });
}

function registerSilences(site: Site, form: PageForm, base: string): void {
  const set = async (visit: Member, kind: Silence["kind"], id: string): Promise<string> => {
    const minutes = Number(visit.form("minutes"));
    await silence(site.db, changeOf(site, visit), { kind, id, minutes });
    return minutes === 0 ? "Its alerts are told again." : "Silenced. Alerts that are open at the end are told then.";
  };
  form(`${base}/rules/:rule/silence`, (visit) => set(visit, "rule", visit.param("rule")));
  form(`${base}/silences`, (visit) => {
    const [, kind, id] = /^(device|group|tag):(.+)$/s.exec(visit.form("target")) ?? [];
    if (kind === undefined || id === undefined)
      throw new UserError("target: got none, expected a device, group or tag", 400, "Choose a group or a tag.");
    return set(visit, kind as Silence["kind"], id);
  });
}

function registerChannels(site: Site, form: PageForm, base: string): void {
  const { db, now, config, baseUrl } = site;
  form(`${base}/channels`, async (visit) => {
    requireAdminOf(visit);
    const address = visit.form("address").trim();
    const wanted = address.includes("://") ? { webhook: address } : { email: address };
    const made = await createChannel(db, config, changeOf(site, visit), { name: visit.form("name"), ...wanted });
    if (made.secret === null) return `Added ${made.channel.name}.`;
    const content = (
      <ShownOnce
        {...{ id: "webhook-secret", label: "The secret that signs its messages", value: made.secret }}
        {...{ back: addressOf(visit), backText: "alerts" }}
        note="The receiver checks messages by Standard Webhooks with it."
      />
    );
    return showPage(visit, ["Webhook added", "alerts"], content, { status: 201 });
  });
  const rename = async (visit: Member): Promise<string> => {
    requireAdminOf(visit);
    const { name } = await renameChannel(db, changeOf(site, visit), visit.param("channel"), visit.form("name"));
    return `Renamed to ${name}.`;
  };
  form(`${base}/channels/:channel/rename`, rename, "channel");
  form(`${base}/channels/:channel/remove`, async (visit) => {
    requireAdminOf(visit);
    const { name } = await deleteChannel(db, changeOf(site, visit), visit.param("channel"));
    return `Deleted ${name}.`;
  });
  form(`${base}/channels/:channel/test`, async (visit) => {
    const { id, name } = await needChannel(db, visit.team.id, visit.param("channel"));
    await queueTest(db, baseUrl, now(), { team: visit.team, channelId: id });
    return `A test message is on its way to ${name}.`;
  });
  form(`${base}/channels/:channel/resend`, async (visit) => {
    const count = await resendDropped(db, changeOf(site, visit), visit.param("channel"));
    return `${countText(count, "message")} will be sent again.`;
  });
}

/** Throws unless the user is an administrator: channels send names of devices to places outside of the hub. */
function requireAdminOf({ team }: Member): void {
  if (team.role === "admin") return;
  const shown = "Only administrators of the team can do this.";
  throw new UserError("got a member, expected an administrator of the team", 403, shown);
}

const addressOf = ({ team }: Member): string => `/teams/${team.id}/alerts`;

async function alertsPage(site: Site, visit: Member, opened: Open, problem?: UserError): Promise<Answer> {
  const { db, now, config } = site;
  const { team } = visit;
  const [base, time] = [addressOf(visit), now()];
  const open = await findAlerts(db, team.id, { open: true }, SHOWN);
  const counts = await countOpen(db, team.id);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const over = await findAlerts(db, team.id, { open: false }, SHOWN);
  const rules = await listRules(db, team.id);
  const channels = await listChannels(db, team.id);
  const places = { groups: await listGroups(db, team.id), tags: await listDeviceTags(db, team.id), channels };
  const silences = await listSilences(db, team.id, time);
  const names = await targetNames(db, team.id, silences);
  const isAdmin = team.role === "admin";
  const typed = problem === undefined ? undefined : visit.form;
  const content = (
    <>
      <h2>Open now</h2>
      <p class="count">{openText(total, open, rules)}</p>
      <AlertList alerts={open} team={team.id} now={time} label="Open alerts" />
      <h2>Rules</h2>
      <List label="Rules">
        {rules.map((rule) =>
          rule.id === opened["rule"] ? (
            <RuleChangeForm
              {...{ ...places, rule, base, typed }}
              hasOwnName={rule.name !== ruleText(rule.kind, rule.threshold)}
            />
          ) : (
            <RuleItem
              {...{ rule, base }}
              open={counts.get(rule.id) ?? 0}
              group={places.groups.find(({ id }) => id === rule.group_id)?.name}
              channel={channels.find(({ id }) => id === rule.channel_id)?.name}
              offlineSeconds={offlineMs(config.heartbeatSeconds) / 1000}
            >
              <SilenceForm
                {...{ action: `${base}/rules/${rule.id}/silence`, what: rule.name }}
                until={silences.find(({ kind, target_id }) => kind === "rule" && target_id === rule.id)?.until}
                now={time}
              />
            </RuleItem>
          ),
        )}
      </List>
      <RuleForm {...{ ...places, base }} />
      <SilenceSection {...{ silences, names, base, now: time }} groups={places.groups} tags={places.tags} />
      <h2>Channels</h2>
      <ChannelList {...{ channels, base, isAdmin }} opened={opened["channel"]} typed={typed?.("name")} />
      {isAdmin ? (
        <ChannelForm
          {...{ base, hasMail: config.smtpUrl !== undefined }}
          typed={typed?.("address") === "" ? undefined : typed}
        />
      ) : (
        <p class="soft">Only administrators of the team add channels.</p>
      )}
      <h2>Ended</h2>
      {over.length === 0 && <p class="soft">None yet.</p>}
      <AlertList alerts={over} team={team.id} now={time} label="Alerts that have ended" />
    </>
  );
  return showPage(visit, ["Alerts", "alerts"], content, { problem });
}

interface ChannelListProps {
  readonly channels: readonly ListedChannel[];
  readonly base: string;
  readonly isAdmin: boolean;
  /** Id of the channel whose form is open, and the name that was typed before an error. */
  readonly opened: string | undefined;
  readonly typed: string | undefined;
}

function ChannelList({ channels, base, isAdmin, opened, typed }: ChannelListProps) {
  if (channels.length === 0)
    return <p class="soft">None yet: alerts are noted on this page, and nobody is told of them.</p>;
  return (
    <List label="Channels">
      {channels.map((channel) =>
        isAdmin && channel.id === opened ? (
          <li class="open">
            <NameForm
              {...{ action: `${base}/channels/${channel.id}/rename`, id: "new-name", button: "Save", cancel: base }}
              label={`New name of ${channel.name}`}
              value={typed ?? channel.name}
            />
          </li>
        ) : (
          <ChannelItem {...{ channel, base, isAdmin }} />
        ),
      )}
    </List>
  );
}

function openText(total: number, shown: readonly Alert[], rules: readonly AlertRule[]): string {
  if (rules.length === 0) return "No rule watches anything yet. Make one below.";
  if (total === 0) return "Nothing is wrong.";
  const text = countText(total, "open alert");
  return total > shown.length ? `${text}, the newest ${shown.length} here` : text;
}

/** Largest number of alerts on the page of a device. */
const OF_DEVICE = 10;

/** Section of a device's page: the device's alerts, and the form that silences alerts of the device. */
export async function alertSection({ db, now }: Site, { team }: Member, device: { id: string; name: string }) {
  const time = now();
  const alerts = await findAlerts(db, team.id, { subject: device.id }, OF_DEVICE);
  const silences = await listSilences(db, team.id, time);
  const until = silences.find(({ kind, target_id }) => kind === "device" && target_id === device.id)?.until;
  const action = `/teams/${team.id}/devices/${encodeURIComponent(device.id)}/silence`;
  return (
    <>
      <h2>Alerts</h2>
      {alerts.length === 0 && <p class="soft">None.</p>}
      <AlertList alerts={alerts} team={undefined} now={time} label="Alerts of this device" />
      <SilenceForm action={action} what={device.name} until={until} now={time} />
    </>
  );
}
