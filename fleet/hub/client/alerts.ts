/** Alerts: open ones and ended ones, the rules that open alerts, and the channels that get messages. */
import type { Toolbox } from "./toolbox.ts";

export type AlertKind =
  | "DEVICE_OFFLINE"
  | "NO_FRAMES"
  | "FRAMES_LOST"
  | "SPOOL_FULL"
  | "VERSION_FAILED"
  | "CLOCK_WRONG"
  | "ROLLOUT_STOPPED"
  | "KEY_EXPIRING";

/** A fault of one device, group, tag or key. */
export interface Alert {
  readonly id: string;
  readonly kind: AlertKind;
  readonly ruleId: string;
  readonly ruleName: string;
  readonly subjectId: string;
  readonly subjectName: string;
  /** ISO 8601. */
  readonly beganAt: string;
  /** ISO 8601; null while the alert is open. */
  readonly endedAt: string | null;
  /**
   * Time at which the message about the alert was queued. Null while the alert waits for other alerts to share its
   * message, or is silenced.
   */
  readonly toldAt: string | null;
}

export interface AlertFilter {
  /** True: only open alerts. False: only ended alerts. */
  readonly open?: boolean;
  /** Id of the device, group or key with the fault, or `tag:` and a tag. */
  readonly subjectId?: string;
}

export interface AlertRule {
  readonly id: string;
  readonly name: string;
  readonly kind: AlertKind;
  /** Threshold in the unit of the rule's kind. */
  readonly threshold: number;
  /** Group whose devices are watched; null for all devices of the team. */
  readonly deviceGroupId: string | null;
  /** Tag whose devices are watched; null for devices with or without tags. */
  readonly deviceTag: string | null;
  /** Channel that gets the messages; null for all channels of the team. */
  readonly alertChannelId: string | null;
}

/** Changes of a rule. An absent field is not changed, and null restores the default. */
export interface AlertRuleChange {
  /** Default: a name made from kind and threshold. */
  readonly name?: string | null;
  /** Default: the usual threshold of the kind. */
  readonly threshold?: number | null;
  readonly deviceGroupId?: string | null;
  readonly deviceTag?: string | null;
  readonly alertChannelId?: string | null;
}

export interface NewAlertRule extends AlertRuleChange {
  readonly kind: AlertKind;
}

export interface AlertChannel {
  readonly id: string;
  readonly name: string;
  readonly kind: "WEBHOOK" | "EMAIL";
  /**
   * An e-mail address, or the address of a webhook. Path and query of a webhook are left out, since they may hold a
   * key.
   */
  readonly address: string;
  readonly createdAt: string;
  /** Reason why messages wait. Null while the receiver accepts messages. */
  readonly problem: string | null;
  readonly waiting: number;
  /** Number of messages that the receiver refused many times although it accepted other messages. */
  readonly dropped: number;
}

/** Address of a channel: a webhook, or a mailbox. */
export type AlertAddress = { readonly webhookUrl: string } | { readonly email: string };

export interface AlertSilence {
  readonly kind: "RULE" | "DEVICE" | "GROUP" | "TAG";
  /** Id of the rule, device or group, or the tag itself. */
  readonly targetId: string;
  readonly until: string;
}

/** Rule, device, group or tag whose messages are held back. */
export type AlertSilenceTarget =
  | { readonly alertRuleId: string }
  | { readonly deviceId: string }
  | { readonly deviceGroupId: string }
  | { readonly deviceTag: string };

export interface AlertOperations {
  /**
   * Reads the alerts that match the filter, the newest first, page by page.
   *
   *     for await (const { subjectName, kind } of hub.alerts({ open: true })) console.log(subjectName, kind);
   */
  alerts(filter?: AlertFilter): AsyncGenerator<Alert, void, undefined>;
  alertRules(): Promise<AlertRule[]>;
  createAlertRule(wanted: NewAlertRule): Promise<AlertRule>;
  updateAlertRule(alertRuleId: string, change: AlertRuleChange): Promise<AlertRule>;
  /** Deletes a rule. Open alerts of this rule end without a message. */
  deleteAlertRule(alertRuleId: string): Promise<AlertRule>;
  alertChannels(): Promise<AlertChannel[]>;
  /**
   * Makes a channel. `secret` signs the messages of a webhook, and is null for e-mail. No later answer contains the
   * secret.
   */
  createAlertChannel(
    name: string,
    address: AlertAddress,
  ): Promise<{ readonly alertChannel: AlertChannel; readonly secret: string | null }>;
  /** Renames a channel. */
  updateAlertChannel(alertChannelId: string, name: string): Promise<AlertChannel>;
  /** Deletes a channel. The hub refuses if a rule names this channel. */
  deleteAlertChannel(alertChannelId: string): Promise<AlertChannel>;
  testAlertChannel(alertChannelId: string): Promise<AlertChannel>;
  /** Queues dropped messages again. Returns the number of these messages. */
  resendAlerts(alertChannelId: string): Promise<number>;
  /** Returns the silences that have not ended. */
  alertSilences(): Promise<AlertSilence[]>;
  /**
   * Holds messages about the target back for `minutes`; 0 ends the silence. Returns the end time, or null if there is
   * no silence.
   */
  silenceAlerts(target: AlertSilenceTarget, minutes: number): Promise<string | null>;
}

const ALERTS_A_PAGE = 200;
const ALERT = "id kind ruleId ruleName subjectId subjectName beganAt endedAt toldAt";
const RULE = "id name kind threshold deviceGroupId deviceTag alertChannelId";
const CHANNEL = "id name kind address createdAt problem waiting dropped";

export function createAlertOperations({ read, each, change, changeBy, send }: Toolbox): AlertOperations {
  const ofRule = "name: String, threshold: Int, deviceGroupId: ID, deviceTag: String, alertChannelId: ID";
  const rule = `alertRule { ${RULE} }`;
  const update = changeBy<AlertRule>("updateAlertRule", `alertRuleId: ID!, ${ofRule}`, rule);
  const ofChannel = (field: string, more = "") =>
    change<AlertChannel>(field, `alertChannelId: ID!${more}`, `alertChannel { ${CHANNEL} }`);
  const create = send<{ alertChannel: AlertChannel; secret: string | null }>(
    "createAlertChannel",
    "name: String!, webhookUrl: String, email: String",
    `alertChannel { ${CHANNEL} } secret`,
  );
  const silence = changeBy<string | null>(
    "silenceAlerts",
    "minutes: Int!, alertRuleId: ID, deviceId: ID, deviceGroupId: ID, deviceTag: String",
    "until",
  );
  return {
    alerts: (filter = {}) =>
      each<Alert>({
        ...{ field: "alerts", selection: ALERT, rows: ALERTS_A_PAGE },
        ...{ args: "filter: AlertFilterInput", values: { filter } },
      }),
    alertRules: read("alertRules", "", `{ ${RULE} }`),
    createAlertRule: changeBy("createAlertRule", `kind: AlertKind!, ${ofRule}`, rule),
    updateAlertRule: (alertRuleId, wanted) => update({ alertRuleId }, wanted),
    deleteAlertRule: change("deleteAlertRule", "alertRuleId: ID!", rule),
    alertChannels: read("alertChannels", "", `{ ${CHANNEL} }`),
    createAlertChannel: (name, address) => create({ name, ...address }),
    updateAlertChannel: ofChannel("updateAlertChannel", ", name: String!"),
    deleteAlertChannel: ofChannel("deleteAlertChannel"),
    testAlertChannel: ofChannel("testAlertChannel"),
    resendAlerts: change("resendAlerts", "alertChannelId: ID!", "resentCount"),
    alertSilences: read("alertSilences", "", "{ kind targetId until }"),
    silenceAlerts: (target, minutes) => silence(target, { minutes }),
  };
}
