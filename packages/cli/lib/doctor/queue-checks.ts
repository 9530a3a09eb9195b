/** What the doctor asks about queues, their consumers, and functions. */
import { type DoctorCheck, referencesOf, TYPES, variableOf } from "./diagnosed-stack.ts";

const DEFAULTS = { timeout: 3, visibility: 30, retention: 345_600, receives: 10 };

export const QUEUE_CHECKS: readonly DoctorCheck[] = [
  {
    id: "queue-deduplication",
    isAdvice: true,
    remedy: "turn content-based deduplication off, and send explicit deduplication ids",
    find: ({ queues }) =>
      queues
        .filter(({ properties }) => properties.ContentBasedDeduplication === true)
        .map(({ id }) => ({ id, what: "deduplicates by content" })),
  },
  {
    id: "queue-visibility",
    isAdvice: true,
    remedy: "make the visibility timeout at least six times the consumer's timeout, plus its batching window",
    find: ({ consumed }) =>
      consumed.flatMap(({ mapping, queue, fn }) => {
        const { VisibilityTimeout = DEFAULTS.visibility } = queue.properties;
        const { Timeout = DEFAULTS.timeout } = fn.properties;
        const least = 6 * Timeout + (mapping.properties.MaximumBatchingWindowInSeconds ?? 0);
        return VisibilityTimeout < least
          ? [{ id: queue.id, what: `has a visibility timeout of ${VisibilityTimeout} s, below ${least} s` }]
          : [];
      }),
  },
  {
    id: "no-batch-failures",
    isLive: true,
    remedy: "set ReportBatchItemFailures on the event source",
    find: ({ consumed }) =>
      consumed
        .filter(
          ({ mapping }) => !mapping.properties.FunctionResponseTypes?.includes("ReportBatchItemFailures"),
        )
        .map(({ mapping: { id } }) => ({
          id,
          what: "loses the records that idempotentBatch reports as failed",
        })),
  },
  {
    id: "queue-dead-letters",
    isAdvice: true,
    remedy: "add a dead-letter queue",
    find: ({ consumed }) =>
      consumed
        .filter(({ queue }) => queue.properties.RedrivePolicy === undefined)
        .map(({ queue: { id } }) => ({ id, what: "has no dead-letter queue" })),
  },
  {
    id: "dead-letter-kind",
    remedy: "use a dead-letter queue of the same type: FIFO for FIFO",
    find: (stack) =>
      stack.queues.flatMap((queue) => {
        const dead = stack.deadLettersOf(queue);
        const isOther = dead && Boolean(dead.properties.FifoQueue) !== Boolean(queue.properties.FifoQueue);
        return isOther ? [{ id: dead.id, what: `isn't the same type as ${queue.id}` }] : [];
      }),
  },
  {
    id: "short-dead-letters",
    isLive: true,
    remedy: "keep dead letters longer than the source keeps messages: their age counts from the first send",
    find: (stack) =>
      stack.queues.flatMap((queue) => {
        const dead = stack.deadLettersOf(queue);
        const { MessageRetentionPeriod: source = DEFAULTS.retention } = queue.properties;
        const kept = dead?.properties.MessageRetentionPeriod ?? DEFAULTS.retention;
        return dead && kept <= source
          ? [{ id: dead.id, what: `keeps messages for ${kept} s, and its source for ${source} s` }]
          : [];
      }),
  },
  {
    id: "retention",
    isLive: true,
    remedy: "raise the retention above the longest time after which a message can be redelivered",
    find: (stack) =>
      stack.consumed.flatMap(({ queue, fn }) => {
        const retention = Number(variableOf(fn, "IDEMPOTENCY_RETENTION_SECONDS"));
        const { VisibilityTimeout: visibility = DEFAULTS.visibility, RedrivePolicy } = queue.properties;
        const receives = RedrivePolicy?.maxReceiveCount ?? DEFAULTS.receives;
        const own = queue.properties.MessageRetentionPeriod ?? DEFAULTS.retention;
        const dead = stack.deadLettersOf(queue);
        const after = dead ? (dead.properties.MessageRetentionPeriod ?? DEFAULTS.retention) : 0;
        const window = visibility * receives + own + after;
        return retention < window
          ? [
              {
                id: fn.id,
                what: `honours records for ${retention} s, but messages can be redelivered for ${window} s`,
              },
            ]
          : [];
      }),
  },
  {
    id: "mapping-enabled",
    isAdvice: true,
    remedy: "enable the event source",
    find: ({ consumed }) =>
      consumed
        .filter(({ mapping }) => mapping.properties.Enabled === false)
        .map(({ mapping: { id } }) => ({ id, what: "is disabled, so messages pile up" })),
  },
  {
    id: "runtime",
    isLive: true,
    remedy:
      "use Node.js 22 or later: Lambda deprecated Node.js 20 on 2026-04-30, and blocks creating functions on it from 2027-02-01",
    find: ({ handlers }) =>
      handlers
        .filter(({ properties: { Runtime } }) => {
          const [, major] = /^nodejs(\d+)/.exec(`${Runtime}`) ?? [];
          return Runtime !== undefined && !/^provided/.test(`${Runtime}`) && !(Number(major) >= 22);
        })
        .map(({ id, properties }) => ({ id, what: `runs on ${properties.Runtime}` })),
  },
  {
    id: "no-concurrency",
    isLive: true,
    remedy: "set the function's reserved concurrency above 0, or remove it",
    find: ({ handlers, senders }) =>
      [...handlers, ...senders]
        .filter(({ properties }) => properties.ReservedConcurrentExecutions === 0)
        .map(({ id }) => ({ id, what: "can never run" })),
  },
  {
    id: "gateway-timeout",
    isLive: true,
    remedy:
      "make the function's timeout at most as long as its API waits: 29 s for a REST API, 30 s for an HTTP API",
    find: (stack) => {
      const waits = stack.of(TYPES.restApi).length > 0 ? 29 : 30;
      const called = stack
        .of<{ Principal?: unknown; FunctionName?: unknown }>(TYPES.permission)
        .filter(({ properties }) => /^apigateway/.test(`${properties.Principal}`))
        .flatMap(({ properties }) => referencesOf(properties.FunctionName));
      return stack.handlers
        .filter(
          ({ id, properties }) => called.includes(id) && (properties.Timeout ?? DEFAULTS.timeout) > waits,
        )
        .map(({ id, properties }) => ({
          id,
          what: `may run for ${properties.Timeout} s, but its API only waits ${waits} s`,
        }));
    },
  },
  {
    id: "rights-wide",
    isAdvice: true,
    remedy: "grant the actions that UseIdempotency grants, and no more",
    find: (stack) => {
      const tables = stack.tables.map(({ id }) => id);
      return stack.of<PolicyProperties>(TYPES.policy).flatMap(({ id, properties }) => {
        const wide = (properties.PolicyDocument?.Statement ?? []).some(
          ({ Effect, Action, Resource }) =>
            Effect === "Allow" &&
            [Action].flat().some((each) => /^(\*|dynamodb:(\*|Scan|DeleteTable))$/.test(`${each}`)) &&
            (Resource === "*" || referencesOf(Resource).some((each) => tables.includes(each))),
        );
        return wide ? [{ id, what: "allows more on the table than a handler needs" }] : [];
      });
    },
  },
];

interface PolicyProperties {
  readonly PolicyDocument?: {
    readonly Statement?: readonly {
      readonly Effect?: string;
      readonly Action?: unknown;
      readonly Resource?: unknown;
    }[];
  };
}
