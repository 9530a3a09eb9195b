import { expect, it } from "vitest";
import { RecordCorruptError, StoreUnavailableError } from "../../../lib/core/errors.ts";
import { OperatedOutbox } from "../../../lib/core/messages/operated-outbox.ts";

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

  protected async decide() {
    return false;
  }
}

it("a listing skips a commit that is over, and fails if the database doesn't respond", async () => {
  const listing = new FailingOutbox().list("parked");

  expect((await listing.next()).value).toMatchObject({ recordKey: "unreadable" });
  await expect(listing.next()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});
