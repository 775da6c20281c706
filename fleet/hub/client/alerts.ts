/** Alerts: open ones, those that are over, the rules that open them, and the channels that are told. */
import type { Arguments, Toolbox } from "./toolbox.ts";

export type AlertKind =
  | "DEVICE_OFFLINE"
  | "NO_FRAMES"
  | "FRAMES_LOST"
  | "SPOOL_FULL"
  | "VERSION_FAILED"
  | "CLOCK_WRONG"
  | "ROLLOUT_STOPPED"
  | "KEY_EXPIRING";

/** One fault of one device, group or key. */
export interface Alert {
  readonly id: string;
  readonly kind: AlertKind;
  readonly ruleId: string;
  readonly ruleName: string;
  readonly subjectId: string;
  readonly subjectName: string;
  /** ISO 8601. */
  readonly beganAt: string;
  /** null: it is open. */
  readonly endedAt: string | null;
  /** When its message was queued; null: it waits for others, or is silenced. */
  readonly toldAt: string | null;
}

export interface AlertFilter {
  /** True: faults that are there. False: those that are over. */
  readonly open?: boolean;
  /** Id of a device, a group or a key. */
  readonly subjectId?: string;
}

export interface AlertRule {
  readonly id: string;
  readonly name: string;
  readonly kind: AlertKind;
  /** In the unit of the kind. */
  readonly threshold: number;
  /** null: devices of all groups. */
  readonly deviceGroupId: string | null;
  /** null: devices with any tags. */
  readonly deviceTag: string | null;
  /** null: all channels of the team are told. */
  readonly alertChannelId: string | null;
}

/** Changes of a rule. A field that is left out stays as it is; null takes the default of a new rule. */
export interface AlertRuleChange {
  /** By default kind and threshold. */
  readonly name?: string | null;
  /** By default what is usual for the kind. */
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
  /** An e-mail address, or a webhook's without path and query, which may hold a key. */
  readonly address: string;
  readonly createdAt: string;
  /** Why messages wait; null: the receiver takes them. */
  readonly problem: string | null;
  readonly waiting: number;
  /** Messages that the receiver refused many times while it took others. */
  readonly dropped: number;
}

/** The address of a channel: of a webhook, or of a mailbox. */
export type AlertAddress = { readonly webhookUrl: string } | { readonly email: string };

export interface AlertSilence {
  readonly kind: "RULE" | "DEVICE" | "GROUP";
  readonly targetId: string;
  readonly until: string;
}

/** Whose messages are held back. */
export type AlertSilenceTarget =
  { readonly alertRuleId: string } | { readonly deviceId: string } | { readonly deviceGroupId: string };

export interface AlertOperations {
  /**
   * Reads the alerts that pass, the newest first, one page after the other.
   *
   *     for await (const { subjectName, kind } of hub.alerts({ open: true })) console.log(subjectName, kind);
   */
  alerts(filter?: AlertFilter): AsyncGenerator<Alert, void, undefined>;
  alertRules(): Promise<AlertRule[]>;
  createAlertRule(wanted: NewAlertRule): Promise<AlertRule>;
  updateAlertRule(alertRuleId: string, change: AlertRuleChange): Promise<AlertRule>;
  /** Its open alerts end without a message. */
  deleteAlertRule(alertRuleId: string): Promise<AlertRule>;
  alertChannels(): Promise<AlertChannel[]>;
  /** `secret` signs the messages of a webhook. It is in this answer and nowhere else; null for e-mail. */
  createAlertChannel(
    name: string,
    address: AlertAddress,
  ): Promise<{ readonly alertChannel: AlertChannel; readonly secret: string | null }>;
  /** Renames a channel. */
  updateAlertChannel(alertChannelId: string, name: string): Promise<AlertChannel>;
  /** The hub refuses it while a rule names the channel alone. */
  deleteAlertChannel(alertChannelId: string): Promise<AlertChannel>;
  testAlertChannel(alertChannelId: string): Promise<AlertChannel>;
  /** Sends dropped messages again. Returns how many. */
  resendAlerts(alertChannelId: string): Promise<number>;
  /** Returns the silences that hold now. */
  alertSilences(): Promise<AlertSilence[]>;
  /** Holds messages back for some minutes; 0 ends the silence. Returns its end, or null if there is none. */
  silenceAlerts(target: AlertSilenceTarget, minutes: number): Promise<string | null>;
}

const ALERTS_A_PAGE = 200;
const ALERT = "id kind ruleId ruleName subjectId subjectName beganAt endedAt toldAt";
const RULE = "id name kind threshold deviceGroupId deviceTag alertChannelId";
const CHANNEL = "id name kind address createdAt problem waiting dropped";

export function createAlertOperations({ read, each, mutation }: Toolbox): AlertOperations {
  const ofRule = { name: "String", threshold: "Int", deviceGroupId: "ID", deviceTag: "String", alertChannelId: "ID" };
  const rule = (field: string, args: Arguments) =>
    mutation<{ alertRule: AlertRule }>(field, args, `alertRule { ${RULE} }`);
  const channel = (field: string, args: Arguments = {}) =>
    mutation<{ alertChannel: AlertChannel }>(field, { alertChannelId: "ID!", ...args }, `alertChannel { ${CHANNEL} }`);
  const rules = read<AlertRule[]>("alertRules", {}, `{ ${RULE} }`);
  const createRule = rule("createAlertRule", { kind: "AlertKind!", ...ofRule });
  const updateRule = rule("updateAlertRule", { alertRuleId: "ID!", ...ofRule });
  const deleteRule = rule("deleteAlertRule", { alertRuleId: "ID!" });
  const channels = read<AlertChannel[]>("alertChannels", {}, `{ ${CHANNEL} }`);
  const createChannel = mutation<{ alertChannel: AlertChannel; secret: string | null }>(
    "createAlertChannel",
    { name: "String!", webhookUrl: "String", email: "String" },
    `alertChannel { ${CHANNEL} } secret`,
  );
  const updateChannel = channel("updateAlertChannel", { name: "String!" });
  const deleteChannel = channel("deleteAlertChannel");
  const testChannel = channel("testAlertChannel");
  const resend = mutation<{ resentCount: number }>("resendAlerts", { alertChannelId: "ID!" }, "resentCount");
  const silences = read<AlertSilence[]>("alertSilences", {}, "{ kind targetId until }");
  const silence = mutation<{ until: string | null }>(
    "silenceAlerts",
    { minutes: "Int!", alertRuleId: "ID", deviceId: "ID", deviceGroupId: "ID" },
    "until",
  );
  return {
    alerts: (filter = {}) =>
      each<Alert>({
        ...{ field: "alerts", selection: ALERT, rows: ALERTS_A_PAGE },
        ...{ args: { filter: "AlertFilterInput" }, values: { filter } },
      }),
    alertRules: () => rules({}),
    createAlertRule: async (wanted) => (await createRule(wanted)).alertRule,
    updateAlertRule: async (alertRuleId, change) => (await updateRule({ alertRuleId, ...change })).alertRule,
    deleteAlertRule: async (alertRuleId) => (await deleteRule({ alertRuleId })).alertRule,
    alertChannels: () => channels({}),
    createAlertChannel: async (name, address) => {
      const { alertChannel, secret } = await createChannel({ name, ...address });
      return { alertChannel, secret };
    },
    updateAlertChannel: async (alertChannelId, name) => (await updateChannel({ alertChannelId, name })).alertChannel,
    deleteAlertChannel: async (alertChannelId) => (await deleteChannel({ alertChannelId })).alertChannel,
    testAlertChannel: async (alertChannelId) => (await testChannel({ alertChannelId })).alertChannel,
    resendAlerts: async (alertChannelId) => (await resend({ alertChannelId })).resentCount,
    alertSilences: () => silences({}),
    silenceAlerts: async (target, minutes) => (await silence({ minutes, ...target })).until,
  };
}
