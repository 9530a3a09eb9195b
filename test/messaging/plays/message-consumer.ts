// A batch handler whose effects are committed to a store in memory, and the invocations in which it fails, hangs or dies.
import type { Context, SQSRecord } from "aws-lambda";
import { type BatchOptions, type Decision, idempotentBatch } from "onceonly";
import {
  type FakeClock,
  fakeLambdaContext,
  fakeRandom,
  MemoryStore,
  type MemoryWrite,
} from "onceonly/testing";
import { sqsRecord } from "../../../packages/explorer/lib/aws/event-sources/sqs-record.ts";
import type { ReceivedMessage } from "../../../packages/explorer/lib/aws/sqs/operations.ts";
import { newProcess } from "../../kit/faults/dying-process.ts";
import { answered } from "../../lambda/batch/given.ts";
import type { Fate, Invocation, MessagePlan } from "./message-steps.ts";

const TIMEOUT_MS = 10_000;
const QUEUE_ARN = "arn:aws:sqs:us-east-1:000000000000:payments.fifo";

type ChangeVisibility = NonNullable<BatchOptions["changeVisibility"]>;

export class MessageConsumer {
  readonly decisions: Decision[] = [];
  readonly #store = new MemoryStore();
  readonly #random = fakeRandom("consumer");
  readonly #clock: FakeClock;
  readonly #plan: MessagePlan;
  readonly #changeVisibility: ChangeVisibility;

  constructor(clock: FakeClock, plan: MessagePlan, changeVisibility: ChangeVisibility) {
    this.#clock = clock;
    this.#plan = plan;
    this.#changeVisibility = changeVisibility;
  }

  /** The keys of a group whose effect happened, in that order; twice where it happened twice. */
  effectsOf(group: string): string[] {
    return (this.#store.table("effects").get(group)?.keys as string[] | undefined) ?? [];
  }

  /** The ids of the messages that are not done; `undefined` from an invocation that died. */
  async invoke(
    { fates, death, thaws }: Invocation,
    messages: readonly ReceivedMessage[],
  ): Promise<readonly string[] | undefined> {
    const process = newProcess(death);
    const fate = fates.values();
    const handler = idempotentBatch<SQSRecord, MemoryWrite>(
      ({ body, attributes }, { idempotency }) =>
        this.#work(fate.next().value ?? "done", () =>
          idempotency.commit(null, { writes: [effectOf(body, String(attributes.MessageGroupId))] }),
        ),
      {
        operation: "charge-payment",
        store: process.storeOf(this.#store),
        mode: this.#plan.mode,
        // docs/reference/keys.md: longer than a message can stay in both queues.
        retentionSeconds: 36 * 86_400,
        clock: this.#clock,
        random: this.#random,
        observe: ({ decision }) => this.decisions.push(decision),
        onRecordError: () => {},
        ...(this.#plan.hides && {
          changeVisibility: async (request) => {
            if (!process.isDead()) await this.#changeVisibility(request);
          },
        }),
      },
    );
    if (!thaws) void this.#clock.sleep(TIMEOUT_MS).then(process.die);
    const Records = messages.map((message) => sqsRecord(message, QUEUE_ARN, "us-east-1") as SQSRecord);
    const context = fakeLambdaContext({ clock: this.#clock, remainingMs: TIMEOUT_MS }) as Context;
    const answer = await process.run(() => answered(handler({ Records }, context)));
    return answer?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  }

  async #work(fate: Fate, commit: () => Promise<unknown>): Promise<void> {
    if (fate === "throws") throw new Error("before the effect");
    if (fate === "slow") await this.#clock.sleep(4000);
    if (fate === "hangs") await this.#clock.sleep(25_000);
    await commit();
    if (fate === "throws-after-effect") throw new Error("after the effect");
  }
}

/** Adds, and asks for nothing: a second effect would show. */
function effectOf(key: string, group: string): MemoryWrite {
  return {
    table: "effects",
    key: group,
    item: (former) => ({ keys: [...((former?.keys as string[]) ?? []), key] }),
  };
}
