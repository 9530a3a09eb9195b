/** What the doctor asks about alarms. */
import { METRICS } from "onceonly/kit";
import { type DiagnosedStack, type DoctorCheck, referencesOf, TYPES } from "./diagnosed-stack.ts";

interface AlarmProperties {
  readonly MetricName?: string;
  readonly Dimensions?: unknown;
  readonly ActionsEnabled?: boolean;
}

const LACKS = [TYPES.alarm];

const alarmsOf = (stack: DiagnosedStack, metric: string) =>
  stack
    .of<AlarmProperties>(TYPES.alarm)
    .filter(({ properties }) => properties.MetricName === metric && properties.ActionsEnabled !== false);

function missing(stack: DiagnosedStack, metric: string) {
  return alarmsOf(stack, metric).length > 0 ? [] : [{ what: `there's no alarm on ${metric}`, lacks: LACKS }];
}

const { decisions, outboxBacklog } = METRICS;

const alarmCheck = (
  id: string,
  remedy: string,
  metric: string,
  isMeant: (stack: DiagnosedStack) => boolean,
): DoctorCheck => ({
  id,
  remedy,
  isAdvice: true,
  find: (stack) => (isMeant(stack) ? missing(stack, metric) : []),
});

const always = ({ handlers }: DiagnosedStack) => handlers.length > 0;
const withOutbox = ({ hasOutbox }: DiagnosedStack) => hasOutbox;
const MONITORED = "create an IdempotencyMonitoring, or your own alarm";

export const ALARM_CHECKS: readonly DoctorCheck[] = [
  alarmCheck("alarm-ran-unprotected", MONITORED, decisions["ran-unprotected"], always),
  alarmCheck("alarm-completion-lost", MONITORED, decisions["completion-lost"], always),
  alarmCheck("alarm-claim-lost", MONITORED, decisions["claim-lost"], always),
  alarmCheck("alarm-store-failed", MONITORED, decisions["store-failed"], always),
  alarmCheck("alarm-iterator-age", "pass `relay` to IdempotencyMonitoring", "IteratorAge", withOutbox),
  alarmCheck(
    "alarm-outbox-age",
    "pass `sweeper` to IdempotencyMonitoring",
    outboxBacklog.oldestMs,
    withOutbox,
  ),
  alarmCheck(
    "alarm-outbox-parked",
    "pass `sweeper` to IdempotencyMonitoring",
    outboxBacklog.parked,
    withOutbox,
  ),
  {
    id: "alarm-sender-errors",
    isAdvice: true,
    remedy: "pass `relay` and `sweeper` to IdempotencyMonitoring",
    find: (stack) => {
      const watched = alarmsOf(stack, "Errors").flatMap(({ properties }) =>
        referencesOf(properties.Dimensions),
      );
      return stack.senders
        .filter(({ id }) => !watched.includes(id))
        .map(({ id }) => ({ id, what: "has no alarm on its errors", lacks: LACKS }));
    },
  },
  {
    id: "alarm-dead-letters",
    isAdvice: true,
    remedy: "add the queue to `deadLetterQueues` of IdempotencyMonitoring",
    find: (stack) => {
      const metric = "ApproximateNumberOfMessagesVisible";
      const watched = alarmsOf(stack, metric).flatMap(({ properties }) =>
        referencesOf(properties.Dimensions),
      );
      const dead = stack.consumed.flatMap(({ queue }) => stack.deadLettersOf(queue) ?? []);
      return [...new Set(dead.map(({ id }) => id))]
        .filter((id) => !watched.includes(id))
        .map((id) => ({ id, what: "has no alarm that fires when it isn't empty", lacks: LACKS }));
    },
  },
];
