// The event filter in docs/reference/messages.md, for a relay whose event source isn't made by the construct.
import { describe, expect, inject, it } from "vitest";
import { eventFilter } from "../../packages/explorer/lib/aws/event-sources/event-filter.ts";
import { newOutboxTable } from "../dynamodb/outbox-given.ts";
import { fencesOf } from "../kit/fences.ts";
import { connect } from "../kit/tables.ts";

const [Pattern] = fencesOf("docs/reference/messages.md", "json").map(({ code }) => code);

describe.each(inject("dynamodbEngines"))(
  "the filter in docs/reference/messages.md, on $name",
  ({ endpoint }) => {
    it("D7: passes the stream records of a commit with messages, and nothing else", async () => {
      const table = await newOutboxTable(connect(endpoint), endpoint);
      const passes = eventFilter({ Filters: [{ Pattern }] });
      const begun = await table.begin("claimed");
      const claimed = await table.nextChanges();
      await begun.finish();
      const committed = await table.nextChanges();
      const unsent = await table.outbox.load(begun.recordKey);
      await table.outbox.markSent(unsent!);
      const marked = await table.nextChanges();

      expect([claimed, committed, marked].map((changes) => changes.length)).toEqual([1, 1, 1]);
      expect([...claimed, ...committed, ...marked].map(passes)).toEqual([false, true, false]);
    });

    it("D7: the same rule at the attribute itself, which the page once gave, never matches", async () => {
      const table = await newOutboxTable(connect(endpoint), endpoint);
      const passes = eventFilter({
        Filters: [{ Pattern: '{"dynamodb":{"NewImage":{"unsentSince":[{"exists":true}]}}}' }],
      });
      await (await table.begin("optimistic")).finish();

      expect((await table.nextChanges()).map(passes)).toEqual([false]);
    });
  },
);
