/** Parts of the page of alerts: lists of alerts, rules and channels. */
import type { Child } from "hono/jsx";
import { shownAddress, type ListedChannel } from "../nouns/alert-channel.ts";
import { isOfDevices, KINDS } from "../nouns/alert-kind.ts";
import type { Alert } from "../nouns/alert.ts";
import type { AlertRule } from "../nouns/alert-rule.ts";
import { Ago, countText, durationText } from "./ago.tsx";
import { ButtonForm, LinkButton } from "./forms.tsx";
import { Breakable, List, Name } from "./layout.tsx";

interface ListProps {
  readonly alerts: readonly Alert[];
  /** Team in the links to devices. Undefined on a device's own page, which needs no links. */
  readonly team: string | undefined;
  readonly now: number;
  readonly label: string;
}

export function AlertList({ alerts, team, now, label }: ListProps) {
  return (
    <List label={label}>
      {alerts.map((alert) => (
        <li>
          <div class="what">
            <span>
              {team === undefined ? null : <Subject alert={alert} team={team} />} {KINDS[alert.kind].one}
            </span>
            <span class="soft">
              began <Ago at={alert.began_at} now={now} />
              {alert.ended_at !== null && `, lasted ${durationText(alert.ended_at - alert.began_at)}`},{" "}
              {alert.rule_name}
              {alert.told_at === null && alert.ended_at === null && ", nobody told yet"}
            </span>
          </div>
        </li>
      ))}
    </List>
  );
}

function Subject({ alert: { kind, subject, subject_name }, team }: { alert: Alert; team: string }) {
  if (!isOfDevices(kind)) return <Name text={subject_name} />;
  return (
    <a href={`/teams/${team}/devices/${encodeURIComponent(subject)}`}>
      <Name text={subject_name} />
    </a>
  );
}

interface RuleProps {
  readonly rule: AlertRule;
  readonly base: string;
  /** Number of open alerts of the rule. */
  readonly open: number;
  readonly group: string | undefined;
  readonly channel: string | undefined;
  /** Seconds after which a silent device is offline. */
  readonly offlineSeconds: number;
  readonly children?: Child;
}

export function RuleItem({ rule, base, open, group, channel, offlineSeconds, children }: RuleProps) {
  const { id, name, kind, threshold, group_id, tag } = rule;
  const among = group_id === null ? "all devices" : `group ${group ?? "that was deleted: it watches nothing"}`;
  const waits = kind === "device_offline" && threshold * 60 < offlineSeconds;
  const where = tag === null ? among : `${among} with the tag ${tag}`;
  return (
    <li>
      <div class="what">
        <Name text={name} />
        <span class="soft">
          {where}, tells {channel ?? "every channel"}; {waits && `waits ${offlineSeconds} s, three heartbeats; `}
          {open === 0 ? "nothing open" : countText(open, "open alert")}
        </span>
      </div>
      <div class="do">
        {children}
        <LinkButton href={`${base}?rule=${id}`} label="Change" name={name} />
        <ButtonForm action={`${base}/rules/${id}/remove`} label="Delete" name={name} />
      </div>
    </li>
  );
}

interface ChannelProps {
  readonly channel: ListedChannel;
  readonly base: string;
  readonly isAdmin: boolean;
}

export function ChannelItem({ channel, base, isAdmin }: ChannelProps) {
  const { id, name, kind, problem, waiting, dropped } = channel;
  const button = (what: string, label: string): Child => (
    <ButtonForm action={`${base}/channels/${id}/${what}`} label={label} name={name} />
  );
  return (
    <li>
      <div class="what">
        <Name text={name} />
        <span class="soft">
          {kind === "webhook" ? "webhook at " : "e-mail to "}
          <Breakable text={shownAddress(channel)} />
          {waiting > 0 && `, ${countText(waiting, "message")} waiting`}
        </span>
        {problem !== null && (
          <span class="bad">
            <Breakable text={`Takes no messages, trying again: ${problem}`} />
          </span>
        )}
        {dropped > 0 && <span class="bad">{countText(dropped, "message")} refused again and again</span>}
      </div>
      <div class="do">
        {button("test", "Test")}
        {dropped > 0 && button("resend", "Send again")}
        {isAdmin && <LinkButton href={`${base}?channel=${id}`} label="Rename" name={name} />}
        {isAdmin && button("remove", "Delete")}
      </div>
    </li>
  );
}
