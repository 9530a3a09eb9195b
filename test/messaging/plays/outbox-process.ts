// A process of a relay or a sweeper on virtual time, whose requests to outbox and queue take a while and meet faults.
import "@aws-sdk/client-sqs";
import type { SendMessageBatchCommand, SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";
import { StoreUnavailableError } from "onceonly";
import type { Outbox } from "onceonly/messaging";
import type { Clock, OutboxChange } from "onceonly/store-kit";
import type { SqsModel } from "../../../packages/explorer/lib/aws/sqs/sqs-model.ts";
import { withOutbox } from "../../kit/with-outbox.ts";
import type { Fault } from "./outbox-steps.ts";

/** Longer than an invocation, and than queues know duplicates. */
export const FROZEN_MS = 400_000;

const REQUEST_MS = 10;
const PAGE = 2;

/** Makes one request in this process. */
type Ask = <T>(name: string, request: () => Promise<T>) => Promise<T>;

export function faultyProcess(
  faults: readonly Fault[],
  clock: Clock,
  met: (fault: Fault["kind"], request: string) => void,
): Ask {
  const never = new Promise<never>(() => {});
  const lost = () => new StoreUnavailableError("unreachable", new Error("no answer"));
  const asked = new Set<string>();
  let requests = 0;
  let isDead = false;

  return async function ask(name, request) {
    if (isDead) return never;
    requests += 1;
    const kind = faults.find(({ at }) => at === requests || (at === name && !asked.has(name)))?.kind;
    asked.add(name);
    if (kind !== undefined) met(kind, name);
    if (kind === "freezes") await clock.sleep(FROZEN_MS);
    await clock.sleep(REQUEST_MS / 2);
    // Another request of this process may have met its death meanwhile.
    if (isDead) return never;
    isDead = kind === "dies-before" || kind === "dies-after";
    if (kind === "dies-before") return never;
    if (kind === "fails") throw lost();
    const answer = await request();
    await clock.sleep(REQUEST_MS / 2);
    if (kind === "answer-lost") throw lost();
    return isDead ? never : answer;
  };
}

/** What lies in `outbox`, in small pages. */
export function outboxIn(ask: Ask, outbox: Outbox, imageOf: (change: unknown) => OutboxChange): Outbox {
  return withOutbox(outbox, {
    readChange: (change) => structuredClone(imageOf(change)),
    load: (recordKey) => ask("load", () => outbox.load(recordKey)),
    take: (...taking) => ask("take", () => outbox.take(...taking)),
    keep: (...kept) => ask("keep", () => outbox.keep(...kept)),
    markSent: (...sent) => ask("mark", () => outbox.markSent(...sent)),
    leaseSweep: (lease) => ask("lease", () => outbox.leaseSweep(lease)),
    readNotes: () => ask("read notes", () => outbox.readNotes()),
    replaceNotes: (...notes) => ask("replace notes", () => outbox.replaceNotes(...notes)),
    async *findUnsent(shard, before) {
      for await (const found of outbox.findUnsent(shard, before)) {
        for (let at = 0; at < found.length; at += PAGE) {
          yield await ask("find", async () => found.slice(at, at + PAGE));
        }
      }
    },
  });
}

/** A client of the model that refuses the messages of some groups. */
export function sqsIn(ask: Ask, model: SqsModel, refused: readonly string[]) {
  const isRefused = ({ MessageGroupId }: SendMessageBatchRequestEntry) =>
    refused.includes(`${MessageGroupId}`);

  async function sendBatch({ Entries = [], QueueUrl }: SendMessageBatchCommand["input"]) {
    const Failed = Entries.filter(isRefused).map(({ Id }) => ({ Id, Code: "Refused", SenderFault: true }));
    const passed = { QueueUrl, Entries: Entries.filter((entry) => !isRefused(entry)) };
    if (passed.Entries.length === 0) return { Failed };
    return { ...(await model.call("SendMessageBatch", passed as never)), Failed };
  }

  return { config: {}, send: ({ input }: SendMessageBatchCommand) => ask("send", () => sendBatch(input)) };
}
