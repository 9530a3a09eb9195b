// What a function gets of a table's stream: what expired, and what passes its filters.
import { describe, expect, it } from "vitest";
import { Simulator } from "../../lib/simulator/simulator.ts";
import type { SimulatorOptions, TableConnection } from "../../lib/simulator/simulator-options.ts";

const START = 1_700_000_000_000;
const DAY = 86_400;

interface StreamEvent {
  readonly Records: readonly {
    readonly eventName: string;
    readonly eventSourceARN: string;
    readonly awsRegion: string;
    readonly userIdentity?: object;
    readonly dynamodb: { readonly Keys: { readonly id: { readonly S: string } } };
  }[];
}

function givenLetters(options: SimulatorOptions = {}, connection: Partial<TableConnection> = {}) {
  const aws = new Simulator(options);
  aws.table("letters", { partitionKey: "id", ttl: "expiresAt", stream: true });
  const seen: { readonly second: number; readonly id: string; readonly of: string; readonly by?: object }[] =
    [];
  const fn = aws.lambda(({ Records }: StreamEvent) => {
    for (const { eventName, userIdentity, dynamodb } of Records) {
      const second = Math.floor((Date.now() - START) / 1000);
      seen.push({ second, id: dynamodb.Keys.id.S, of: eventName, ...(userIdentity && { by: userIdentity }) });
    }
  });
  aws.connectTable(fn, { tableName: "letters", ...connection });
  const put = (id: string, expiresInSeconds?: number, more: object = {}) =>
    aws.dynamodb.call("PutItem", {
      TableName: "letters",
      Item: {
        id: { S: id },
        ...(expiresInSeconds !== undefined && {
          expiresAt: { N: String(Math.floor(aws.clock.now() / 1000) + expiresInSeconds) },
        }),
        ...more,
      },
    });
  return { aws, seen, put };
}

describe("TTL", () => {
  it("deletes by the clock, even without a reader, and the stream records that it was TTL, as Lambda spells it", async () => {
    const { aws, seen, put } = givenLetters({ ttlLagSeconds: 3600 });

    await aws.run(async () => {
      await put("later", 2 * DAY);
      await put("sooner", DAY);
      await put("never");
      await aws.clock.sleep(3 * DAY * 1000);
    });

    const by = { type: "Service", principalId: "dynamodb.amazonaws.com" };
    expect(seen.filter(({ of }) => of === "REMOVE")).toEqual([
      { second: DAY + 3600, id: "sooner", of: "REMOVE", by },
      { second: 2 * DAY + 3600, id: "later", of: "REMOVE", by },
    ]);
    expect(seen.filter(({ of }) => of === "INSERT")).toHaveLength(3);
  });

  it("counts from the last expiry that was written", async () => {
    const { aws, seen, put } = givenLetters({ ttlLagSeconds: 0 });

    await aws.run(async () => {
      await put("a", 60);
      await put("a", 600);
      await aws.clock.sleep(DAY * 1000);
    });

    expect(seen.map(({ second, of }) => [second, of])).toEqual([
      [0, "INSERT"],
      [0, "MODIFY"],
      [600, "REMOVE"],
    ]);
  });

  it("deletes nothing by itself unless its delay is configured", async () => {
    const { aws, seen, put } = givenLetters();

    await aws.run(async () => {
      await put("a", 60);
      await aws.clock.sleep(DAY * 1000);
    });

    expect(seen.map(({ of }) => of)).toEqual(["INSERT"]);
  });

  it("doesn't keep the simulation from being idle", async () => {
    const { aws, put } = givenLetters({ ttlLagSeconds: 0 });

    await aws.run(async () => {
      await put("a", DAY);
      await aws.untilIdle();
    });

    expect(aws.clock.now() - START).toBeLessThan(1000);
  });
});

describe("connectTable with filters", () => {
  it("delivers records that match one of them, and skips the rest without an invocation", async () => {
    const { aws, seen, put } = givenLetters(
      { ttlLagSeconds: 0 },
      {
        filters: [
          { dynamodb: { NewImage: { waiting: { N: [{ exists: true }] } } } },
          { eventName: ["REMOVE"], userIdentity: { principalId: ["dynamodb.amazonaws.com"] } },
        ],
      },
    );

    await aws.run(async () => {
      await put("plain");
      await put("waiting", undefined, { waiting: { N: "1" } });
      await put("text", undefined, { waiting: { S: "1" } });
      await put("expiring", 5);
      await aws.dynamodb.call("DeleteItem", { TableName: "letters", Key: { id: { S: "plain" } } });
      await aws.clock.sleep(60_000);
    });

    expect(seen.map(({ id, of }) => [id, of])).toEqual([
      ["waiting", "INSERT"],
      ["expiring", "REMOVE"],
    ]);
    expect(aws.trace.filter(({ kind }) => kind === "source")).toHaveLength(2);
  });

  it("as in Lambda, finds nothing if a pattern asks whether an object exists", async () => {
    const { aws, seen, put } = givenLetters(
      {},
      {
        filters: [{ dynamodb: { NewImage: { waiting: [{ exists: true }] } } }],
      },
    );

    await aws.run(async () => {
      await put("waiting", undefined, { waiting: { N: "1" } });
      await aws.untilIdle();
    });

    expect(seen).toEqual([]);
  });

  it("refuses a rule that it does not know", async () => {
    const { aws } = givenLetters({}, { filters: [{ eventName: [{ like: "REM%" }] }] });

    await expect(aws.run(() => aws.untilIdle())).rejects.toThrow("like");
    expect(() => givenLetters({}, { filters: {} as never })).toThrow("filters");
  });
});
