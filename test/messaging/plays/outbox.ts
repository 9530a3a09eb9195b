// Plays a plan in one process and on one clock. Commits go to a store in memory, and their messages to a FIFO queue and its
// consumer. Relays and sweepers die, fail and freeze.
import type { Context, SQSRecord } from "aws-lambda";
import { idempotentBatch, runOnce } from "onceonly";
import { type OutboxOptions, outboxRelay, outboxSweeper } from "onceonly/messaging";
import type { OutboxChange } from "onceonly/store-kit";
import { fakeClock, fakeLambdaContext, fakeRandom, MemoryStore, type MemoryWrite } from "onceonly/testing";
import { sqsRecord } from "../../../packages/explorer/lib/aws/event-sources/sqs-record.ts";
import { SqsModel } from "../../../packages/explorer/lib/aws/sqs/sqs-model.ts";
import { FROZEN_MS, faultyProcess, outboxIn, sqsIn } from "./outbox-process.ts";
import type { OutboxStep, Sending } from "./outbox-steps.ts";

const TIMEOUT_MS = 30_000;
const QUEUE_ARN = "arn:aws:sqs:us-east-1:000000000000:payments.fifo";
const HEALTHY: Sending = { faults: [], refused: [] };

interface Change {
  readonly dynamodb: { readonly SequenceNumber: string };
  readonly image: OutboxChange;
}

export interface Commit {
  readonly keys: readonly string[];
  /** The shard of the index. Commits of two shards do not wait for each other. */
  readonly shard: number;
}

export class OutboxPlay {
  /** In their order. */
  readonly commits: Commit[] = [];
  readonly seen = new Set<string>();
  readonly #clock = fakeClock();
  readonly #random = fakeRandom("outbox");
  readonly #store = new MemoryStore();
  readonly #effects = new MemoryStore();
  readonly #model = new SqsModel({ clock: this.#clock, random: fakeRandom("queue") });
  #queue = "";
  #stream: Change[] = [];
  /** An event source mapping has one invocation at a time. */
  #isRelaying = false;
  #messages = 0;

  async play(plan: readonly OutboxStep[]): Promise<this> {
    const Attributes = { FifoQueue: "true", MessageRetentionPeriod: "1209600" };
    const { QueueUrl } = await this.#model.call("CreateQueue", { QueueName: "payments.fifo", Attributes });
    this.#queue = QueueUrl;
    for (const step of plan) await this.#take(step);
    return this;
  }

  /** Everything is mended, and works until nothing is left anywhere. */
  async drain(): Promise<void> {
    await this.#clock.advance(TIMEOUT_MS + FROZEN_MS + 10_000);
    for (let rounds = 0; this.#stream.length > 0 || this.#store.outbox.changes.length > 0; rounds++) {
      if (rounds === 50) throw new Error("the outbox never became empty");
      await this.#clock.run(this.#relay(10, HEALTHY));
      await this.#clock.advance(61_000);
      await this.#clock.run(this.#sweep(HEALTHY));
    }
    await this.#clock.run(this.#consume());
  }

  /** In the order in which they happened; twice what happened twice. */
  effectsOf(group: string): string[] {
    return (this.#effects.table("effects").get(group)?.keys as string[] | undefined) ?? [];
  }

  async #take(step: OutboxStep): Promise<void> {
    if (step.do === "commit") await this.#clock.run(this.#commit(step.groups, step.isLarge));
    else if (step.do === "consume") await this.#clock.run(this.#consume());
    else if (step.do === "relay") void this.#relay(step.batchSize, step);
    else if (step.do === "sweep") void this.#sweep(step);
    else if (step.do === "lose-stream") this.#stream = [];
    // What was begun comes as far as it can without time.
    await this.#clock.advance(step.do === "wait" ? step.ms : 1);
  }

  async #commit(groups: readonly string[], isLarge: boolean): Promise<void> {
    const keys = groups.map((group) => `${group}${++this.#messages}`);
    const options = { operation: "order", store: this.#store, leaseSeconds: 30, clock: this.#clock };
    const messages = keys.map((key) => ({ queue: this.#queue, key, group: groupOf(key), body: key }));
    const before = new Set(this.#store.outbox.changes);
    await runOnce(options, `order ${this.commits.length}`, {}, ({ commit }) => commit(null, { messages }));
    const recordKey = this.#store.outbox.changes.find((key) => !before.has(key)) as string;
    this.commits.push({ keys, shard: await this.#shardOf(recordKey) });
    const unsent = (await this.#store.outbox.load(recordKey)) as NonNullable<OutboxChange["unsent"]>;
    const { committedAt } = unsent;
    const image = { recordKey, committedAt, ...(!isLarge && { unsent }) };
    this.#stream.push({ dynamodb: { SequenceNumber: `${this.commits.length}` }, image });
  }

  async #shardOf(recordKey: string): Promise<number> {
    for (let shard = 0; ; shard++) {
      for await (const found of this.#store.outbox.findUnsent(shard, Number.POSITIVE_INFINITY)) {
        if (found.some((each) => each.recordKey === recordKey)) return shard;
      }
    }
  }

  async #relay(batchSize: number, sending: Sending): Promise<void> {
    if (this.#isRelaying) return;
    this.#isRelaying = true;
    const batch = this.#stream.slice(0, batchSize);
    const relay = outboxRelay(this.#optionsIn(sending, "relay"));
    const answer = await Promise.race([relay({ Records: batch }), this.#timeout()]);
    this.#isRelaying = false;
    if (answer === undefined) return void this.seen.add("a relay timed out");
    const [first] = answer.batchItemFailures;
    const at = batch.findIndex(({ dynamodb }) => dynamodb.SequenceNumber === first?.itemIdentifier);
    const settled = first === undefined ? batch : batch.slice(0, at);
    // The stream may have been lost meanwhile.
    this.#stream = this.#stream.filter((change) => !settled.includes(change));
  }

  async #sweep(sending: Sending): Promise<void> {
    const report = await Promise.race([
      outboxSweeper(this.#optionsIn(sending, "sweeper"))(),
      this.#timeout(),
    ]).catch(() => undefined);
    if (report === undefined) return;
    for (const [what, count] of Object.entries(report)) if (count > 0) this.seen.add(`${what} by a sweeper`);
  }

  #timeout(): Promise<undefined> {
    return this.#clock.sleep(TIMEOUT_MS).then(() => undefined);
  }

  #optionsIn(sending: Sending, who: string): OutboxOptions {
    const process = faultyProcess(sending.faults, this.#clock, (fault, request) =>
      this.seen.add(`${fault} of a ${who} at ${request}`),
    );
    return {
      outbox: outboxIn(process, this.#store.outbox, (change) => (change as Change).image),
      destinations: "any",
      sqs: sqsIn(process, this.#model, sending.refused),
      clock: this.#clock,
      random: this.#random,
      observe: () => {},
    };
  }

  async #consume(): Promise<void> {
    const handler = idempotentBatch<SQSRecord, MemoryWrite>(
      ({ body }, { idempotency }) => idempotency.commit(null, { writes: [effectOf(body)] }),
      { operation: "charge", store: this.#effects, retentionSeconds: 14 * 86_400, clock: this.#clock },
    );
    const request = { QueueUrl: this.#queue, MaxNumberOfMessages: 10 };
    const names = { MessageSystemAttributeNames: ["All"], MessageAttributeNames: ["All"] };
    for (;;) {
      const { Messages = [] } = await this.#model.call("ReceiveMessage", { ...request, ...names });
      if (Messages.length === 0) return;
      const Records = Messages.map((message) => sqsRecord(message, QUEUE_ARN, "us-east-1") as SQSRecord);
      await handler({ Records }, fakeLambdaContext({ clock: this.#clock }) as Context);
      for (const { ReceiptHandle } of Messages) {
        await this.#model.call("DeleteMessage", { QueueUrl: this.#queue, ReceiptHandle });
      }
    }
  }
}

export function groupOf(key: string): string {
  return key.replace(/\d+$/, "");
}

/** Adds, and asks for nothing: a second effect would show. */
function effectOf(key: string): MemoryWrite {
  return {
    table: "effects",
    key: groupOf(key),
    item: (former) => ({ keys: [...((former?.keys as string[]) ?? []), key] }),
  };
}
