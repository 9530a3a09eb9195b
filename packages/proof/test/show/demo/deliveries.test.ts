import { describe, expect, it } from "vitest";
import type { FunctionHost } from "../../../../local/lib/index.ts";
import { watchDeliveries } from "../../../show/demo/deliveries.ts";

/** A consumer whose invocations end when and how the test decides. */
function consumerHost() {
  const ends: ((payload: string | "killed") => void)[] = [];
  const killed: unknown[] = [];
  const host: FunctionHost = {
    invoke: (_, extras) =>
      new Promise((resolve) => {
        const requestId = extras?.requestId ?? "";
        const failure = { errorType: "Runtime.ExitError", errorMessage: "killed", payload: "{}" };
        ends.push((payload) => {
          if (payload !== "killed") resolve({ outcome: "ok", requestId, payload });
          else resolve({ outcome: "crashed", requestId, ...failure });
        });
      }),
    kill(requestId) {
      killed.push(requestId);
      return requestId;
    },
    stop: async () => undefined,
  };
  return { host, ends, killed };
}

const eventOf = (...orderIds: string[]) =>
  JSON.stringify({
    Records: orderIds.map((orderId) => ({
      messageId: `message of ${orderId}`,
      receiptHandle: `receipt of ${orderId}`,
      body: JSON.stringify({ orderId }),
    })),
  });

describe("watchDeliveries", () => {
  it("derives what the consumer finished from what it returned", async () => {
    const { host, ends } = consumerHost();
    const deliveries = watchDeliveries(host);
    const invoking = host.invoke(eventOf("one", "two"));
    const before = deliveries.running("one").map(({ end }) => end);

    ends[0]?.('{"batchItemFailures":[{"itemIdentifier":"message of two"}]}');
    await invoking;

    expect(before).toEqual([undefined]);
    expect(deliveries.running("one")).toEqual([]);
    expect(deliveries.all.map(({ orderId, end }) => [orderId, end])).toEqual([
      ["one", "acknowledged"],
      ["two", "returned"],
    ]);
  });

  it("counts everything as lost that a dead consumer had", async () => {
    const { host, ends } = consumerHost();
    const deliveries = watchDeliveries(host);
    const invoking = host.invoke(eventOf("one", "two"));

    ends[0]?.("killed");
    await invoking;

    expect(deliveries.all.map(({ end }) => end)).toEqual(["lost", "lost"]);
  });

  it("kills the consumer that has an order, and no other", async () => {
    const { host, ends, killed } = consumerHost();
    const deliveries = watchDeliveries(host);
    const invoking = [host.invoke(eventOf("one"), { requestId: "first" }), host.invoke(eventOf("two"))];

    const isKilled = ["one", "three"].map(deliveries.killConsumerOf);

    expect(isKilled).toEqual([true, false]);
    expect(killed).toEqual(["first"]);
    for (const end of ends) end("null");
    await Promise.all(invoking);
    expect(deliveries.killConsumerOf("one")).toBe(false);
  });
});
