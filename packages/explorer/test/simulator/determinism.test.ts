import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { describe, expect, it } from "vitest";
import { Simulator } from "../../lib/simulator/simulator.ts";
import { effect, givenAws, rowsOf } from "./given.ts";

const zip = promisify(gzip);

describe("simultaneous events", () => {
  it("leave in the order of the environments, however long real work lasts", async () => {
    const aws = givenAws();
    const fn = aws.lambda(async ({ bytes }: { bytes: number }) => {
      if (bytes > 0) await zip("x".repeat(bytes));
      return effect("one");
    });
    await aws.run(() => Promise.all([{ bytes: 4_000_000 }, { bytes: 0 }].map((event) => fn.invoke(event))));
    const asked = aws.trace.flatMap(({ io }) => (io ? [[io.number, io.hostId]] : []));
    expect(asked.sort()).toEqual([
      [1, "function-1#1"],
      [2, "function-1#2"],
    ]);
  });

  it("is otherwise with another seed: latencies decide who is first", async () => {
    const firsts = new Set<string>();
    for (let seed = 1; seed <= 12; seed++) {
      const aws = givenAws({ seed });
      const fn = aws.lambda(() => effect("one"));
      await aws.run(() => Promise.all([fn.invoke({}), fn.invoke({})]));
      firsts.add(aws.trace.find(({ io }) => io)?.hostId ?? "");
    }
    expect(firsts.size).toBe(2);
  });
});

describe("clients of a module that is loaded once", () => {
  it("keep their memory of retries per environment: many that failed take nothing from the next", async () => {
    const attempts: number[] = [];
    for (let turn = 0; turn < 120; turn++) {
      const aws = givenAws();
      // Each retry that is not followed by a success costs the client some of those that it may do.
      aws.faults = ({ attempt }) =>
        attempt === 1 ? { kind: "lost-answer" } : { kind: "crash", when: "before" };
      const fn = aws.lambda(() => effect("one"));
      await aws.run(() => fn.invoke({}));
      attempts.push(aws.trace.filter(({ io }) => io).length);
    }
    expect(new Set(attempts)).toEqual(new Set([2]));
  });
});

describe("ttlLagSeconds", () => {
  it("deletes expired items that much later, and not before", async () => {
    const aws = new Simulator({ ttlLagSeconds: 3600 });
    aws.table("notes", { partitionKey: "id", ttl: "until" });
    const until = { N: String(aws.clock.now() / 1000 + 60) };
    await aws.run(async () => {
      await aws.dynamodb.call("PutItem", { TableName: "notes", Item: { id: { S: "a" }, until } });
      await aws.clock.sleep(3_600_000);
      expect(await rowsOf(aws, "notes")).toHaveLength(1);
      await aws.clock.sleep(61_000);
      expect(await rowsOf(aws, "notes")).toHaveLength(0);
    });
  });
});
