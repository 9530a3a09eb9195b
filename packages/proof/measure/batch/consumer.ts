// Delivers messages as an SQS event source mapping does: in batches, several invocations at a time. The messages that an
// invocation returns, and the whole batch if its invocation failed or died, come back after the visibility timeout.

import type { SQSRecord } from "aws-lambda";
import { fakeLambdaContext } from "onceonly/testing";
import type { BatchFunction } from "../contestants/batch-function.ts";
import type { ExecutionEnvironment } from "./execution-environment.ts";
import { MESSAGES_OF_A_BATCH } from "./message-stream.ts";

const FUNCTION_TIMEOUT_SECONDS = 30;
/** https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html */
export const VISIBILITY_SECONDS = 6 * FUNCTION_TIMEOUT_SECONDS;
/** A message that is still there then would never be done. */
const MAX_ROUNDS = 20;

export interface RunningFunction {
  readonly environment: Pick<ExecutionEnvironment, "died">;
  readonly invoke: BatchFunction;
}

/** The environments of one function: each serves one invocation at a time, and is replaced when it has died. */
export class Consumer {
  deliveries = 0;
  crashes = 0;
  /** How long each invocation lasted. */
  readonly invocationMs: number[] = [];
  readonly #size: number;
  readonly #start: () => RunningFunction;
  readonly #functions: (RunningFunction | undefined)[];

  constructor(concurrency: number, start: () => RunningFunction, size = MESSAGES_OF_A_BATCH) {
    this.#size = size;
    this.#start = start;
    this.#functions = Array.from({ length: concurrency }, () => undefined);
  }

  /**
   * Resolves when every message is done.
   * @param awaitVisibility called when all that is left is hidden
   * @throws Error when messages come back without end
   */
  async consume(messages: readonly SQSRecord[], awaitVisibility: () => void): Promise<void> {
    let waiting = messages;
    for (let round = 0; waiting.length > 0; round++) {
      if (round === MAX_ROUNDS) throw new Error(`${waiting.length} messages come back again and again`);
      if (round > 0) awaitVisibility();
      waiting = await this.#deliverOnce(waiting);
    }
  }

  /** Resolves to the messages that are not done. */
  async #deliverOnce(messages: readonly SQSRecord[]): Promise<readonly SQSRecord[]> {
    const batches = batchesOf(messages, this.#size).values();
    const returned: SQSRecord[] = [];
    const poll = async (_: unknown, index: number) => {
      for (const batch of batches) returned.push(...(await this.#invoke(index, batch)));
    };
    await Promise.all(this.#functions.map(poll));
    return returned;
  }

  async #invoke(index: number, batch: readonly SQSRecord[]): Promise<readonly SQSRecord[]> {
    this.deliveries += batch.length;
    const running = this.#functions[index] ?? this.#start();
    this.#functions[index] = running;
    const context = fakeLambdaContext({
      clock: { now: () => Date.now() },
      remainingMs: FUNCTION_TIMEOUT_SECONDS * 1000,
      functionName: "count-order",
    });
    const startedAt = performance.now();
    const answered = running.invoke({ Records: [...batch] }, context).catch(() => "failed" as const);
    const answer = await Promise.race([answered, running.environment.died]);
    this.invocationMs.push(performance.now() - startedAt);
    if (answer === "died") {
      this.crashes++;
      this.#functions[index] = undefined;
    }
    if (typeof answer === "string") return batch;
    const returned = new Set(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    return batch.filter(({ messageId }) => returned.has(messageId));
  }
}

function batchesOf(messages: readonly SQSRecord[], size: number): SQSRecord[][] {
  const count = Math.ceil(messages.length / size);
  return Array.from({ length: count }, (_, index) => messages.slice(index * size, (index + 1) * size));
}
