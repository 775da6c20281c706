/**
 * Tables of alerts.
 *
 * - An `alerts` row is one fault of one subject: a device, a group or tag whose roll-out stopped, or a key. Its id
 *   starts with `began_at`, so that ids have the order of time. `told_at` and `end_told_at` are the times at which the
 *   messages about the alert's start and end were queued.
 * - `calm_since` is the time since which the fault has been away. The alert ends once it was away for `hold_ms`.
 * - An `alert_messages` row is a message that waits for its receiver, or that was dropped and is kept.
 * - `leases` names the process that watches the rules, and for each channel the process that sends.
 */
export const alerts = (text: string): string => `
CREATE TABLE alert_channels (
  id ${text} PRIMARY KEY,
  team_id ${text} NOT NULL REFERENCES teams (id),
  name ${text} NOT NULL,
  kind ${text} NOT NULL CHECK (kind IN ('webhook', 'email')),
  address ${text} NOT NULL,
  secret ${text},
  created_by ${text} NOT NULL,
  created_at BIGINT NOT NULL,
  problem ${text}
);
CREATE INDEX alert_channels_of_team ON alert_channels (team_id, id);
CREATE TABLE alert_rules (
  id ${text} PRIMARY KEY,
  team_id ${text} NOT NULL REFERENCES teams (id),
  name ${text} NOT NULL,
  kind ${text} NOT NULL,
  threshold BIGINT NOT NULL,
  group_id ${text},
  tag ${text},
  channel_id ${text},
  created_by ${text} NOT NULL,
  created_at BIGINT NOT NULL
);
CREATE INDEX alert_rules_of_team ON alert_rules (team_id, id);
CREATE TABLE alerts (
  id ${text} PRIMARY KEY,
  team_id ${text} NOT NULL,
  rule_id ${text} NOT NULL,
  rule_name ${text} NOT NULL,
  kind ${text} NOT NULL,
  subject ${text} NOT NULL,
  subject_name ${text} NOT NULL,
  began_at BIGINT NOT NULL,
  hold_ms BIGINT NOT NULL,
  calm_since BIGINT,
  ended_at BIGINT,
  told_at BIGINT,
  end_told_at BIGINT
);
CREATE UNIQUE INDEX alerts_open ON alerts (rule_id, subject) WHERE ended_at IS NULL;
CREATE INDEX alerts_untold ON alerts (rule_id, id) WHERE told_at IS NULL AND ended_at IS NULL;
CREATE INDEX alerts_end_untold ON alerts (rule_id, id) WHERE ended_at IS NOT NULL AND end_told_at IS NULL;
CREATE INDEX alerts_of_rule ON alerts (rule_id, subject, ended_at);
CREATE INDEX alerts_of_team ON alerts (team_id, began_at, id);
CREATE INDEX alerts_of_subject ON alerts (team_id, subject, began_at, id);
CREATE INDEX alerts_by_age ON alerts (ended_at);
CREATE TABLE alert_silences (
  team_id ${text} NOT NULL,
  kind ${text} NOT NULL CHECK (kind IN ('rule', 'device', 'group', 'tag')),
  target_id ${text} NOT NULL,
  until BIGINT NOT NULL,
  PRIMARY KEY (team_id, kind, target_id)
);
CREATE TABLE alert_messages (
  channel_id ${text} NOT NULL,
  at BIGINT NOT NULL,
  id ${text} NOT NULL,
  team_id ${text} NOT NULL,
  body ${text} NOT NULL,
  dropped_at BIGINT,
  reason ${text},
  PRIMARY KEY (channel_id, at, id)
);
CREATE TABLE leases (name ${text} PRIMARY KEY, owner ${text} NOT NULL, until BIGINT NOT NULL);
`;

/** Tables with rows of a team. */
export const ALERT_TABLES = ["alert_messages", "alert_silences", "alerts", "alert_rules", "alert_channels"] as const;
