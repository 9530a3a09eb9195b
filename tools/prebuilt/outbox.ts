// The functions of OutboxRelay. They are one bundle, since nearly all of their code is the same.
import { ENVIRONMENT } from "../../lib/contract.ts";
import { DynamoDBOutbox } from "../../lib/lean/index.ts";
import { type OutboxOptions, outboxRelay, outboxSweeper } from "../../lib/messaging/index.ts";
import { emfMetrics } from "../../lib/observe/emf-metrics.ts";

const { env } = process;

const measure = emfMetrics({
  service: env[ENVIRONMENT.metricsService],
  namespace: env[ENVIRONMENT.metricsNamespace],
});

const destinations = env[ENVIRONMENT.outboxDestinations];
const table = env[ENVIRONMENT.outboxTable];
const shards = env[ENVIRONMENT.outboxShards];
const scheduler = env[ENVIRONMENT.outboxScheduler];

if (destinations === undefined) {
  throw new Error(
    `${ENVIRONMENT.outboxDestinations} is not set: give it a JSON list of queue URLs, topic ARNs and bus ARNs, or "any" in quotes`,
  );
}

const options: OutboxOptions = {
  destinations: JSON.parse(destinations),
  outbox: new DynamoDBOutbox({
    tableName: env[ENVIRONMENT.idempotencyTable],
    ...(table !== undefined && JSON.parse(table)),
    ...(shards !== undefined && { shards: Number(shards) }),
  }),
  ...(scheduler !== undefined && { scheduler: JSON.parse(scheduler) }),
  observe(event) {
    measure(event);
    if (event.error !== undefined) console.error(event.error);
  },
};

/** Sends the messages that operations committed, in the order of the table's stream. */
export const relay = outboxRelay(options);

/** Sends the messages that the stream has lost. */
export const sweeper = outboxSweeper(options);
