/** The doctor's checks of the idempotency table, its outbox, its relay and its sweeper. */
import { ATTRIBUTES, ENVIRONMENT, OUTBOX_INDEX } from "onceonly/kit";
import {
  type DiagnosedStack,
  type DoctorCheck,
  type RuleProperties,
  referencesOf,
  TABLE_TYPES,
  TYPES,
  variableOf,
} from "./diagnosed-stack.ts";

const outboxOnly = <T>(stack: DiagnosedStack, complaints: readonly T[]): readonly T[] =>
  stack.hasOutbox ? complaints : [];

export const TABLE_CHECKS: readonly DoctorCheck[] = [
  {
    id: "no-expiry",
    isLive: true,
    remedy: "enable TTL: without it records are never deleted",
    find: ({ tables }) =>
      tables
        .filter(({ properties }) => properties.TimeToLiveSpecification?.Enabled !== true)
        .map(({ id }) => ({ id, what: "has no TTL" })),
  },
  {
    id: "ttl-attribute",
    isLive: true,
    remedy: `set the TTL attribute to ${ATTRIBUTES.expiresAt}, or to the store's \`ttlAttribute\``,
    find: ({ tables }) =>
      tables.flatMap(({ id, properties: { TimeToLiveSpecification: ttl } }) =>
        ttl?.Enabled && ttl.AttributeName !== ATTRIBUTES.expiresAt
          ? [{ id, what: `has TTL on ${ttl.AttributeName}` }]
          : [],
      ),
  },
  {
    id: "table-recovery",
    isAdvice: true,
    remedy: "enable point-in-time recovery",
    find: ({ tables }) =>
      tables
        .filter(({ properties }) =>
          (properties.Replicas ?? [properties]).some(
            (each) => each.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled !== true,
          ),
        )
        .map(({ id }) => ({ id, what: "has no point-in-time recovery" })),
  },
  {
    id: "table-protection",
    isAdvice: true,
    remedy: "enable deletion protection: without the table, everything that has run can run again",
    find: ({ tables }) =>
      tables
        .filter(({ properties }) =>
          (properties.Replicas ?? [properties]).some((each) => each.DeletionProtectionEnabled !== true),
        )
        .map(({ id }) => ({ id, what: "has no deletion protection" })),
  },
  {
    id: "replicated-table",
    isLive: true,
    remedy: "keep the table in one region, or pin each key to one: two replicas can both claim a key",
    find: ({ tables }) =>
      tables
        .filter(({ properties }) => (properties.Replicas ?? []).length > 1)
        .map(({ id, properties }) => ({ id, what: `is in ${properties.Replicas?.length} regions` })),
  },
  {
    id: "outbox-stream",
    isLive: true,
    remedy: "enable a stream with new images on the table",
    find: (stack) =>
      outboxOnly(
        stack,
        stack.tables
          .filter(({ properties }) => !/^NEW_/.test(`${properties.StreamSpecification?.StreamViewType}`))
          .map(({ id }) => ({
            id,
            what: "has no stream with new images, which a relay needs to send messages",
          })),
      ),
  },
  {
    id: "table-index",
    isLive: true,
    remedy: `add the sparse index "${OUTBOX_INDEX}", which the sweeper needs to find messages that the stream lost`,
    find: (stack) =>
      outboxOnly(
        stack,
        stack.tables
          .filter(
            ({ properties }) =>
              !properties.GlobalSecondaryIndexes?.some(({ IndexName }) => IndexName === OUTBOX_INDEX),
          )
          .map(({ id }) => ({ id, what: `has no index "${OUTBOX_INDEX}"` })),
      ),
  },
  {
    id: "outbox-relay",
    isLive: true,
    remedy: "create an OutboxRelay for the table, or enable its event source",
    find: (stack) => {
      const isRelayed = stack.relayed.some(({ properties }) => properties.Enabled !== false);
      const complaint = {
        what: "committed messages are never sent",
        lacks: [TYPES.mapping, ...TABLE_TYPES],
      };
      return stack.hasOutbox && !isRelayed ? [complaint] : [];
    },
  },
  {
    id: "relay-start",
    isLive: true,
    remedy: "start the relay at TRIM_HORIZON: from LATEST it skips earlier commits",
    find: ({ relayed }) =>
      relayed
        .filter(({ properties }) => properties.StartingPosition !== "TRIM_HORIZON")
        .map(({ id, properties }) => ({ id, what: `starts at ${properties.StartingPosition}` })),
  },
  {
    id: "relay-partial",
    isLive: true,
    remedy: "set ReportBatchItemFailures on the relay's event source",
    find: ({ relayed }) =>
      relayed
        .filter(({ properties }) => !properties.FunctionResponseTypes?.includes("ReportBatchItemFailures"))
        .map(({ id }) => ({ id, what: "retries whole batches" })),
  },
  {
    id: "relay-filter",
    isLive: true,
    remedy: `filter the relay's event source on ${ATTRIBUTES.unsentSince}: otherwise every write invokes it`,
    find: ({ relayed }) =>
      relayed
        .filter(
          ({ properties }) =>
            !properties.FilterCriteria?.Filters?.some(({ Pattern }) =>
              Pattern?.includes(ATTRIBUTES.unsentSince),
            ),
        )
        .map(({ id }) => ({ id, what: "has no filter" })),
  },
  {
    id: "relay-retries",
    isAdvice: true,
    remedy:
      "let the relay retry without a limit, or accept that messages it gives up on are sent later and out of order",
    find: ({ relayed }) =>
      relayed
        .filter(({ properties }) => (properties.MaximumRetryAttempts ?? -1) >= 0)
        .map(({ id, properties }) => ({
          id,
          what: `gives up after ${properties.MaximumRetryAttempts} retries`,
        })),
  },
  {
    id: "outbox-sweeper",
    remedy: "add a rule that invokes the sweeper every minute",
    find: (stack) => {
      const senders = stack.senders.map(({ id }) => id);
      const rules = stack.of<RuleProperties>(TYPES.rule, TYPES.schedule);
      const sweeps = rules.filter(({ properties }) =>
        referencesOf([properties.Targets, properties.Target]).some((id) => senders.includes(id)),
      );
      const isSwept = sweeps.some(({ properties }) => runsEachMinute(properties));
      const complaint = {
        what: "no rule invokes a sweeper every minute",
        lacks: [TYPES.rule, TYPES.schedule, TYPES.function],
        isAdvice: true,
      };
      // In templates the rule no-sweep finds a sweeper that never runs.
      const isExpected = stack.isLive
        ? stack.hasOutbox
        : sweeps.some(({ properties }) => properties.State !== "DISABLED");
      return isExpected && !isSwept ? [complaint] : [];
    },
  },
  {
    id: "outbox-shards",
    remedy:
      "raise the shards of the relay and the sweeper to at least those of every store, and deploy the senders first",
    find: ({ handlers, senders }) => {
      const most = Math.max(0, ...handlers.map((fn) => Number(variableOf(fn, ENVIRONMENT.outbox)) || 0));
      return senders
        .filter((fn) => Number(variableOf(fn, ENVIRONMENT.outboxShards)) < most)
        .map((fn) => ({
          id: fn.id,
          what: `reads ${variableOf(fn, ENVIRONMENT.outboxShards)} of ${most} shards`,
        }));
    },
  },
  {
    id: "outbox-variable",
    remedy: "use UseIdempotency, or set IDEMPOTENCY_OUTBOX to `none` or to the number of shards",
    find: (stack) => {
      const { handlers, senders } = stack;
      return (
        handlers
          .filter((fn) => senders.length > 0 && variableOf(fn, ENVIRONMENT.outbox) === undefined)
          // A reconciler commits nothing.
          .filter((fn) => !stack.isScheduled(fn))
          .map(({ id }) => ({ id, what: "doesn't know whether its table has an outbox" }))
      );
    },
  },
];

export const runsEachMinute = ({ State, ScheduleExpression }: RuleProperties): boolean =>
  State !== "DISABLED" && /^(rate\(1 minutes?\)|cron\(\* \* .*\))$/.test(`${ScheduleExpression}`);
