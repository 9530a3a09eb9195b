import { describe, expect, it } from "vitest";
import type { ObservedRequest } from "../../../../local/lib/fault-proxy.ts";
import { createFaults } from "../../../show/demo/faults.ts";
import { FAULT_SHARES } from "../../../show/demo/plan.ts";

const update = (pk: string) => ({ operation: "UpdateItem", sequence: 0, body: { Key: { pk: { S: pk } } } });
const commit = (pk: string) => ({
  operation: "TransactWriteItems",
  sequence: 0,
  body: {
    TransactItems: [{ Update: { Key: { pk: { S: pk } } } }, { Put: { Item: { tenant: { S: "acme" } } } }],
  },
});
const mark = (pk: string): ObservedRequest => ({
  operation: "UpdateItem",
  sequence: 0,
  body: {
    Key: { pk: { S: pk } },
    UpdateExpression: "SET expiresAt = :expiresAt REMOVE messages,unsentShard,unsentSince",
  },
});
const none = { lostAnswers: 0, throttles: 0 } as unknown as typeof FAULT_SHARES;

describe("createFaults", () => {
  it("decides the same for the same seed, in whatever order records come", () => {
    const records = Array.from({ length: 200 }, (_, index) => `record ${index}`);
    const forwards = createFaults({ seed: 5, faultShares: FAULT_SHARES });
    const backwards = createFaults({ seed: 5, faultShares: FAULT_SHARES });

    const one = records.map((record) => forwards.decide(update(record)));
    const other = records.toReversed().map((record) => backwards.decide(update(record)));

    expect(one).toEqual(other.toReversed());
  });

  it("decides otherwise for another seed", () => {
    const decisionsOf = (seed: number) => {
      const faults = createFaults({ seed, faultShares: FAULT_SHARES });
      return Array.from({ length: 200 }, () => faults.decide(update("record")));
    };

    expect(decisionsOf(1)).not.toEqual(decisionsOf(2));
  });

  it("disturbs its share of writes, by record and by transaction", () => {
    const faults = createFaults({ seed: 1, faultShares: FAULT_SHARES });
    const decisions = Array.from({ length: 2000 }, (_, index) => [
      faults.decide(update(`record ${index}`)),
      faults.decide(commit(`record ${index}`)),
    ]).flat();

    const lost = decisions.filter((fault) => fault === "lose-answer").length / decisions.length;
    const throttled = decisions.filter((fault) => fault === "throttle").length;
    expect(Math.abs(lost - FAULT_SHARES.lostAnswers)).toBeLessThan(0.02);
    expect(Math.abs(throttled / decisions.length - FAULT_SHARES.throttles)).toBeLessThan(0.02);
    expect(faults.throttles).toBe(throttled);
  });

  it("reports each claim that is made together with others", () => {
    const faults = createFaults({ seed: 1, faultShares: none });
    const reported: string[] = [];
    for (const key of ["one", "two"]) faults.on(key, "claim", () => void reported.push(key));
    const Statement = `INSERT INTO "records" VALUE {'state': ?, 'pk': ?}`;
    const Statements = ["one", "two"].map((S) => ({ Statement, Parameters: [{ S: "in-progress" }, { S }] }));

    faults.decide({ operation: "BatchExecuteStatement", sequence: 0, body: { Statements } });

    expect(reported).toEqual(["one", "two"]);
  });

  it("leaves reads and other tables alone", () => {
    const faults = createFaults({ seed: 1, faultShares: { lostAnswers: 1, throttles: 0 } as never });

    expect(faults.decide({ ...update("record"), operation: "GetItem" })).toBe("pass");
    expect(faults.decide({ ...update("record"), body: { Key: { id: { S: "1" } } } })).toBe("pass");
    expect(faults.decide(update("record"))).toBe("lose-answer");
  });

  it("reports each claim, commit and mark of a record, and decides by the answer", () => {
    const faults = createFaults({ seed: 1, faultShares: none });
    const reported: string[] = [];
    for (const moment of ["claim", "commit", "mark"] as const) {
      faults.on("record", moment, () => {
        reported.push(moment);
        return moment === "commit" ? "throttle" : undefined;
      });
    }

    const decisions = [update("record"), commit("other"), commit("record"), mark("record")].map(
      faults.decide,
    );

    expect(decisions).toEqual(["pass", "pass", "throttle", "pass"]);
    expect(reported).toEqual(["claim", "commit", "mark"]);
    expect(faults.throttles).toBe(0);
  });

  it("notifies all watchers of a moment, until they leave", () => {
    const faults = createFaults({ seed: 1, faultShares: none });
    const reported: string[] = [];
    const note = (name: string) => () => {
      reported.push(name);
      return undefined;
    };
    const leave = faults.on("record", "claim", note("first"));
    faults.on("record", "claim", note("second"));

    faults.decide(update("record"));
    leave();
    faults.decide(update("record"));

    expect(reported).toEqual(["first", "second", "second"]);
  });

  it("reports an order that is about to be stored, by tenant, key and id", () => {
    const faults = createFaults({ seed: 1, faultShares: none });
    const reported: unknown[] = [];
    faults.onOrder((order) => reported.push(order));
    const request = commit("record");
    request.body.TransactItems[1] = {
      Put: { Item: { tenant: { S: "acme" }, idempotencyKey: { S: "cart-1" }, id: { S: "order-1" } } },
    } as never;

    faults.decide(request);
    faults.decide(commit("record"));

    expect(reported).toEqual([{ tenant: "acme", key: "cart-1", id: "order-1" }]);
  });
});
