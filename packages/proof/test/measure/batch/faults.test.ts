import { describe, expect, it } from "vitest";
import { CRASH_SHARE, crashes, type Fault, LOST_SHARE, lostAnswers } from "../../../measure/batch/faults.ts";

const ORDERS = Array.from({ length: 10_000 }, (_, index) => `order-${index}`);

const shareOf = (fault: Fault, faults: readonly Fault[]) =>
  faults.filter((each) => each === fault).length / faults.length;

describe("crashes", () => {
  it("kills before and after the write of an effect, as often as configured", () => {
    const plan = crashes();

    const faults = ORDERS.map((orderId) => plan({ orderIds: [orderId] }));

    expect(shareOf("die-before", faults)).toBeCloseTo(CRASH_SHARE / 2, 2);
    expect(shareOf("die-after", faults)).toBeCloseTo(CRASH_SHARE / 2, 2);
  });

  it("decides in the same way for each contestant, in whatever order the writes come", () => {
    const [one, other] = [crashes(), crashes()];
    const forward = ORDERS.map((orderId) => one({ orderIds: [orderId] }));
    const backward = ORDERS.toReversed().map((orderId) => other({ orderIds: [orderId] }));

    expect(backward.toReversed()).toEqual(forward);
  });

  it("decides again when the effect of an order is written again", () => {
    const plan = crashes();
    const killed = ORDERS.filter((orderId) => plan({ orderIds: [orderId] }) !== undefined);

    expect(killed.filter((orderId) => plan({ orderIds: [orderId] }) === undefined).length).toBeGreaterThan(0);
  });

  it("leaves requests without an effect alone", () => {
    const plan = crashes();

    expect(ORDERS.map(() => plan({ orderIds: [] })).every((fault) => fault === undefined)).toBe(true);
  });
});

describe("lostAnswers", () => {
  it("loses responses to any request, as often as configured", () => {
    const plan = lostAnswers();

    const faults = ORDERS.map(() => plan({ orderIds: [] }));

    expect(shareOf("lose-answer", faults)).toBeCloseTo(LOST_SHARE, 2);
  });
});
