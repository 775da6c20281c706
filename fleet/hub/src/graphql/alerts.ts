/** Resolvers of the log of alerts, and of alert rules, channels and silences. */
import { queueTest } from "../alerts/tell.ts";
import {
  createChannel,
  deleteChannel,
  listChannels,
  needChannel,
  renameChannel,
  resendDropped,
  shownAddress,
  type AlertChannel,
  type ListedChannel,
} from "../nouns/alert-channel.ts";
import { findAlerts, type Alert } from "../nouns/alert.ts";
import { createRule, deleteRule, listRules, updateRule, type AlertRule } from "../nouns/alert-rule.ts";
import { listSilences, silence } from "../nouns/alert-silence.ts";
import { UserError } from "../core/errors.ts";
import { connectionOf, readPage, type PageArguments } from "./connection.ts";
import type { TeamContext } from "./context.ts";
import { iso, isoOrNull } from "./times.ts";
import { given, isNoText } from "./mutation.ts";
import { ANY_CURSOR, cursorOf, readPosition } from "./ordered.ts";

export const toAlert = (alert: Alert): object => ({
  ...{ id: alert.id, kind: alert.kind.toUpperCase(), ruleId: alert.rule_id, ruleName: alert.rule_name },
  ...{ subjectId: alert.subject, subjectName: alert.subject_name },
  beganAt: iso(alert.began_at),
  endedAt: isoOrNull(alert.ended_at),
  toldAt: isoOrNull(alert.told_at),
});

const toRule = (rule: AlertRule): object => ({
  ...{ id: rule.id, name: rule.name, kind: rule.kind.toUpperCase(), threshold: rule.threshold },
  ...{ deviceGroupId: rule.group_id, deviceTag: rule.tag, alertChannelId: rule.channel_id },
});

const toChannel = (channel: AlertChannel & Partial<ListedChannel>): object => ({
  ...{ id: channel.id, name: channel.name, kind: channel.kind.toUpperCase(), address: shownAddress(channel) },
  createdAt: iso(channel.created_at),
  ...{ problem: channel.problem, waiting: channel.waiting ?? 0, dropped: channel.dropped ?? 0 },
});

interface AlertsArguments extends PageArguments {
  readonly filter?: { readonly open?: boolean | null; readonly subjectId?: string | null } | null;
}

/** Fields of `team` in a query. */
export const alertQueries = ({ db, team, now, values }: TeamContext) => ({
  alerts: async ({ filter, ...args }: AlertsArguments) => {
    const page = readPage(args, ANY_CURSOR);
    const position = page.after === undefined ? undefined : readPosition(page.after);
    const subject = given(filter?.subjectId);
    const before = position === undefined ? undefined : { at: Number(position.value), id: position.id };
    const rows = isNoText(subject)
      ? []
      : await findAlerts(db, team.id, { open: given(filter?.open), subject, before }, page.limit);
    values.count(rows.length);
    return connectionOf(rows, page, ({ began_at, id }) => cursorOf({ value: began_at, id }), toAlert);
  },
  alertRules: async () => (await listRules(db, team.id)).map(toRule),
  alertChannels: async () => (await listChannels(db, team.id)).map(toChannel),
  alertSilences: async () =>
    (await listSilences(db, team.id, now())).map(({ kind, target_id, until }) => ({
      kind: kind.toUpperCase(),
      targetId: target_id,
      until: iso(until),
    })),
});

interface CreateRule {
  readonly kind: string;
  readonly name?: string | null;
  readonly threshold?: number | null;
  readonly deviceGroupId?: string | null;
  readonly deviceTag?: string | null;
  readonly alertChannelId?: string | null;
}

interface UpdateRule extends Omit<CreateRule, "kind"> {
  readonly alertRuleId: string;
}

interface CreateChannel {
  readonly name: string;
  readonly webhookUrl?: string | null;
  readonly email?: string | null;
}

interface SilenceArguments {
  readonly minutes: number;
  readonly alertRuleId?: string | null;
  readonly deviceId?: string | null;
  readonly deviceGroupId?: string | null;
  readonly deviceTag?: string | null;
}

/** Fields of `team` in a mutation. */
export function alertMutations({ db, now, change, team, config, baseUrl }: TeamContext) {
  return {
    createAlertRule: async ({ kind, name, threshold, deviceGroupId, deviceTag, alertChannelId }: CreateRule) => {
      const rule = await createRule(db, change(), {
        kind: kind.toLowerCase(),
        ...{ name: given(name), threshold: given(threshold) },
        ...{ groupId: given(deviceGroupId), tag: given(deviceTag), channelId: given(alertChannelId) },
      });
      return { alertRule: toRule(rule) };
    },
    updateAlertRule: async ({ alertRuleId, name, threshold, deviceGroupId, deviceTag, alertChannelId }: UpdateRule) => {
      const wanted = { name, threshold, groupId: deviceGroupId, tag: deviceTag, channelId: alertChannelId };
      return { alertRule: toRule(await updateRule(db, change(), alertRuleId, wanted)) };
    },
    deleteAlertRule: async ({ alertRuleId }: { alertRuleId: string }) => ({
      alertRule: toRule(await deleteRule(db, change(), alertRuleId)),
    }),
    createAlertChannel: async ({ name, webhookUrl, email }: CreateChannel) => {
      const wanted = { name, webhook: given(webhookUrl), email: given(email) };
      const { channel, secret } = await createChannel(db, config, change(), wanted);
      return { alertChannel: toChannel(channel), secret };
    },
    updateAlertChannel: async ({ alertChannelId, name }: { alertChannelId: string; name: string }) => ({
      alertChannel: toChannel(await renameChannel(db, change(), alertChannelId, name)),
    }),
    deleteAlertChannel: async ({ alertChannelId }: { alertChannelId: string }) => ({
      alertChannel: toChannel(await deleteChannel(db, change(), alertChannelId)),
    }),
    testAlertChannel: async ({ alertChannelId }: { alertChannelId: string }) => {
      const channel = await needChannel(db, team.id, alertChannelId);
      await queueTest(db, baseUrl, now(), { team, channelId: channel.id });
      return { alertChannel: toChannel(channel) };
    },
    resendAlerts: async ({ alertChannelId }: { alertChannelId: string }) => ({
      resentCount: await resendDropped(db, change(), alertChannelId),
    }),
    silenceAlerts: async ({ minutes, alertRuleId, deviceId, deviceGroupId, deviceTag }: SilenceArguments) => {
      const targets = [
        { kind: "rule", id: given(alertRuleId) },
        { kind: "device", id: given(deviceId) },
        { kind: "group", id: given(deviceGroupId) },
        { kind: "tag", id: given(deviceTag) },
      ] as const;
      const [target, ...more] = targets.filter(({ id }) => id !== undefined);
      if (target?.id === undefined || more.length > 0)
        throw new UserError(
          "got none or several of alertRuleId, deviceId, deviceGroupId, deviceTag, expected exactly one",
        );
      return { until: isoOrNull(await silence(db, change(), { kind: target.kind, id: target.id, minutes })) };
    },
  };
}
