// What the prebuilt relay and sweeper have in common: the table of their environment, and what they tell.
import { ENVIRONMENT } from "../../lib/contract.ts";
import type { OutboxOptions } from "../../lib/index.ts";
import { DynamoDBOutbox } from "../../lib/lean/index.ts";
import { emfMetrics } from "../../lib/observe/emf-metrics.ts";

const { env } = process;

const measure = emfMetrics({
  service: env[ENVIRONMENT.metricsService],
  namespace: env[ENVIRONMENT.metricsNamespace],
});

const destinations = env[ENVIRONMENT.outboxDestinations];
const shards = env[ENVIRONMENT.outboxShards];

export const options: OutboxOptions = {
  destinations: destinations === undefined ? undefined : JSON.parse(destinations),
  outbox: new DynamoDBOutbox({
    tableName: env[ENVIRONMENT.idempotencyTable],
    ...(shards !== undefined && { shards: Number(shards) }),
  }),
  observe(event) {
    measure(event);
    if (event.error !== undefined) console.error(event.error);
  },
};
