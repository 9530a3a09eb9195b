import { expect, it } from "vitest";
import { RecordCorruptError, StoreUnavailableError } from "../../../lib/core/errors.ts";
import { type ChangedCommit, OperatedOutbox } from "../../../lib/core/messages/operated-outbox.ts";
import { queuePlace, type Unsent } from "../../../lib/core/messages/outbox.ts";

/** An outbox whose database finds three commits: one that is over by now, an unreadable one, and one that it fails to read. */
class FailingOutbox extends OperatedOutbox {
  readonly shards = 1;

  async load(recordKey: string): Promise<undefined> {
    if (recordKey === "unreadable") throw new RecordCorruptError("the record has no token");
    if (recordKey === "last") throw new StoreUnavailableError("unreachable", undefined);
  }

  async *findUnsent() {
    yield ["over", "unreadable", "last"].map((recordKey) => ({ recordKey, dueAt: 1 }));
  }

  dueAt: number | undefined;

  protected async decide(_: Unsent, { dueAt }: ChangedCommit) {
    this.dueAt = dueAt;
    return false;
  }
}

it("a listing skips a commit that is over, and fails if the database doesn't respond", async () => {
  const listing = new FailingOutbox().list("parked");

  expect((await listing.next()).value).toMatchObject({ recordKey: "unreadable" });
  await expect(listing.next()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});

it("R5: a commit that waits behind others keeps its place if an operator's decision lets nothing of it be sent earlier", async () => {
  const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/pay.fifo";
  const commit: Unsent = {
    recordKey: "op##k",
    token: "mine",
    committedAt: 5,
    messages: [
      { queue, key: "a", group: "g", body: "a" },
      { queue, key: "b", group: "g", body: "b" },
      { queue: queue.replace(".fifo", ""), key: "c", body: "c" },
    ],
    progress: [
      { state: "waiting", tries: 1 },
      { state: "parked", tries: 1 },
      { state: "waiting", tries: 1 },
    ],
    shard: 0,
    dueAt: queuePlace(5),
  };
  const outbox = new FailingOutbox();
  const by = { by: "ana", why: "a test" };
  const dueAts: (number | undefined)[] = [];
  for (const decide of [
    () => outbox.sendAgain(commit, { ...by, messages: [0] }),
    () => outbox.drop(commit, { ...by, messages: [2] }),
    () => outbox.sendAgain(commit, { ...by, messages: [1] }),
    () => outbox.sendAgain(commit, { ...by, messages: [2] }),
    () => outbox.redirect(commit, { ...by, messages: [0], to: { queue } }),
    () => outbox.sendAgain({ ...commit, dueAt: 7 }, { ...by, messages: [0] }),
  ]) {
    await decide();
    dueAts.push(outbox.dueAt);
  }

  expect(dueAts).toEqual([queuePlace(5), queuePlace(5), 5, 5, 5, 5]);
});
