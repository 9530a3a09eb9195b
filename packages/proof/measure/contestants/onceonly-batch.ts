// This package on a queue: `idempotentBatch` with the store on DynamoDB, the key from the message's body.
import type { SQSRecord } from "aws-lambda";
import { type BatchOptions, idempotentBatch } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { DynamoDBStore as LeanStore } from "onceonly/lean";
import { type Clock, systemClock } from "../../../../lib/core/clock.ts";
import { effectUpdate, effectWrite, writeEffect } from "../batch/effects.ts";
import { orderIdOf } from "../batch/message-stream.ts";
import { type BatchSetup, type DeployBatch, RETENTION_SECONDS } from "./batch-function.ts";

type Options = BatchOptions<SQSRecord, DynamoDBWrite>;

/** The effect and the record in one transaction. */
export function onceonlyCommitting(options: Partial<Options> = {}): DeployBatch {
  return (setup) =>
    idempotentBatch(
      async (record, { idempotency }) => {
        await setup.work?.(record);
        const orderId = orderIdOf(record);
        return idempotency.commit({ orderId }, { writes: [effectWrite(setup.effectsTable, orderId)] });
      },
      { ...optionsOf(setup), ...options },
    );
}

/** The same without the SDK. */
export const onceonlyCommittingLean: DeployBatch = (setup) =>
  onceonlyCommitting({ store: leanStore(setup) })(setup);

/** The effect is a separate request, as the peer's is. */
export function onceonlyWriting(options: Partial<Options> = {}): DeployBatch {
  return (setup) =>
    idempotentBatch(
      async (record) => {
        await setup.work?.(record);
        const orderId = orderIdOf(record);
        await writeEffect(setup.client, setup.effectsTable, orderId);
        return { orderId };
      },
      { ...optionsOf(setup), ...options },
    );
}

/** The same without the SDK. */
export const onceonlyWritingLean: DeployBatch = (setup) =>
  idempotentBatch(
    async (record) => {
      await setup.work?.(record);
      const orderId = orderIdOf(record);
      await setup.lean.send("UpdateItem", effectUpdate(setup.effectsTable, orderId));
      return { orderId };
    },
    { ...optionsOf(setup), store: leanStore(setup) },
  );

function leanStore({ lean, recordsTable }: BatchSetup) {
  return new LeanStore({ tableName: recordsTable, client: lean });
}

function optionsOf({ client, recordsTable }: BatchSetup): Options {
  return {
    operation: "count-order",
    store: new DynamoDBStore({ tableName: recordsTable, client }),
    key: orderIdOf,
    retentionSeconds: RETENTION_SECONDS,
    // Lost responses and dead neighbours are what is measured here; their log lines aren't needed.
    onRecordError: () => {},
    clock,
  };
}

/** Reads the time that is skipped; and an alarm that can be called off does not hold a process whose environment died. */
const clock: Clock = {
  now: () => Date.now(),
  sleep(ms, signal) {
    if (signal === undefined) return systemClock.sleep(ms);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      signal.addEventListener("abort", function callOff() {
        clearTimeout(timer);
        resolve();
      });
    });
  },
};
