// A few messages on a real engine: that a trial counts what it says it counts, for every contestant.
import { describe, expect, inject, it } from "vitest";
import { CONTESTANTS } from "../../../measure/batch/compare-batches.ts";
import { type FaultPlan, noFaults } from "../../../measure/batch/faults.ts";
import { messageStream, orderIdOf } from "../../../measure/batch/message-stream.ts";
import { SkippableTime } from "../../../measure/batch/skippable-time.ts";
import { Trial, type TrialSetup } from "../../../measure/batch/trial.ts";
import { createMeter } from "../../../measure/metering/meter.ts";

const endpoint = inject("everyDynamodbEngine")[0]?.endpoint as string;
const CONCURRENCY = 2;
const STREAM = messageStream(3, CONCURRENCY);
const ORDERS = 24;
const NAMES = Object.keys(CONTESTANTS);
const COMMITTING = NAMES.filter((name) => name.includes("with a commit"));
const WRITING = NAMES.filter((name) => !COMMITTING.includes(name));

async function consume(
  name: string,
  faultOf: FaultPlan,
  times = 1,
  more: Pick<TrialSetup, "size" | "work"> = {},
) {
  const contestant = CONTESTANTS[name] as (typeof CONTESTANTS)[string];
  const [meter, time] = [await createMeter(endpoint), new SkippableTime()];
  const trial = await Trial.create({
    ...contestant,
    endpoint,
    meter,
    time,
    concurrency: CONCURRENCY,
    faultOf,
    ...more,
  });
  time.start();
  try {
    for (let nth = 0; nth < times; nth++) {
      time.skip(600_000);
      await trial.consume(STREAM, () => time.skip(600_000));
    }
  } finally {
    time.stop();
  }
  return trial.end(STREAM);
}

/** Only the first write of this order's effect. */
function onceFor(orderId: string, fault: ReturnType<FaultPlan>): FaultPlan {
  let left = 1;
  return (request) => (request.orderIds.includes(orderId) && left-- > 0 ? fault : undefined);
}

describe("Trial", () => {
  it.each(NAMES)("counts each effect once if nothing goes wrong: %s", async (name) => {
    const result = await consume(name, noFaults());

    expect(result).toMatchObject({ doubled: 0, missing: 0, crashes: 0, lostAnswers: 0 });
    expect(result.deliveries).toBeGreaterThanOrEqual(STREAM.length);
  });

  it.each(["onceonly, claimed, the handler writes on its own", "Powertools"])(
    "counts batches of another size, whose handlers work: %s",
    async (name) => {
      const worked: string[] = [];
      const result = await consume(name, noFaults(), 1, {
        size: 15,
        work: async (record) => worked.push(orderIdOf(record)),
      });

      expect(new Set(worked).size).toBe(ORDERS);
      expect(result).toMatchObject({ doubled: 0, missing: 0 });
      expect(result.batchMs).toBeGreaterThan(0);
    },
  );

  it.each([
    ["onceonly, claimed, with a commit", 0],
    ['onceonly, claimed, the handler writes on its own, `groupRequests: "completions"`', ORDERS],
  ])(
    "counts the requests of groups, next to those of handlers, whatever time was skipped: %s",
    async (name, ofHandlers) => {
      const { requests, deliveries } = await consume(name, noFaults(), 2);

      expect(requests).toBeGreaterThan(ofHandlers);
      expect(requests).toBeLessThan(ofHandlers + deliveries / 2);
    },
  );

  it.each(COMMITTING)("counts no wrong effect if a commit was a process's last act: %s", async (name) => {
    const result = await consume(name, onceFor("order-3", "die-after"));

    expect(result).toMatchObject({ doubled: 0, missing: 0, crashes: 1 });
  });

  it.each(WRITING)(
    "counts an effect that was the last that a process did, and happens again: %s",
    async (name) => {
      const result = await consume(name, onceFor("order-3", "die-after"));

      expect(result).toMatchObject({ missing: 0, crashes: 1 });
      expect(result.doubled).toBeGreaterThan(0);
    },
  );

  it.each(NAMES)("counts no effect as missing that a process died before: %s", async (name) => {
    const result = await consume(name, onceFor("order-3", "die-before"));

    expect(result).toMatchObject({ missing: 0, crashes: 1 });
  });

  it.each([...COMMITTING.map((name) => [name, 0] as const), ...WRITING.map((name) => [name, 1] as const)])(
    "counts the effects that are repeated after a lost answer: %s",
    async (name, doubled) => {
      const result = await consume(name, onceFor("order-5", "lose-answer"));

      expect(result).toMatchObject({ doubled, missing: 0, lostAnswers: 1 });
    },
  );
});
