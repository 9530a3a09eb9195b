// Errors that say another call is in progress: no attempt both runs and gets this error because of its own record.
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { type Decision, type Execution, runOnce } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { type FakeClock, fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { DynamoDBError } from "../../packages/explorer/lib/aws/dynamodb/dynamodb-error.ts";
import { DynamoDBModel } from "../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { createTable } from "../kit/tables.ts";

const ERRORS = [
  "TransactionInProgressException",
  "TransactionConflictException",
  "ReplicatedWriteConflictException",
  "IdempotentParameterMismatchException",
] as const;

interface Fault {
  readonly name: (typeof ERRORS)[number];
  /** The number of the first request that meets it, counted from 0. */
  readonly at: number;
  /** How many requests in a row meet it. */
  readonly times: number;
  /** Whether the request was applied all the same. */
  readonly applied: boolean;
}

const FAULTS: readonly Fault[] = ERRORS.flatMap((name) =>
  [0, 1, 2].flatMap((at) =>
    [1, 1000].flatMap((times) => [false, true].map((applied) => ({ name, at, times, applied }))),
  ),
);

async function newShop(fault: Fault | undefined) {
  const clock: FakeClock = fakeClock();
  const model = new DynamoDBModel({ clock });
  const setUp = new DynamoDBClient(model.clientConfig());
  const [tableName, counters] = [await createTable(setUp), await createTable(setUp)];
  const state = { requests: 0, runs: 0 };
  const decisions: Decision[] = [];
  const client = new DynamoDBClient({
    ...model.clientConfig({
      intercept: async (_call, run) => {
        const request = state.requests++;
        if (!fault || request < fault.at || request >= fault.at + fault.times) return run();
        // An error in the place of the answer; what the engine itself says to the request is nobody's concern.
        if (fault.applied) await Promise.resolve(run()).catch(() => {});
        throw new DynamoDBError(fault.name, "somebody else is at it");
      },
    }),
    maxAttempts: 1,
  });
  const store = new DynamoDBStore({ tableName, client });
  const options = { operation: "pay", store, clock, random: fakeRandom(1), leaseSeconds: 30 } as const;
  const observe = ({ decision }: { readonly decision: Decision }) => void decisions.push(decision);
  const count: DynamoDBWrite = {
    Update: {
      TableName: counters,
      Key: { pk: "payments" },
      UpdateExpression: "ADD payments :one",
      ExpressionAttributeValues: { ":one": 1 },
    },
  };
  return {
    clock,
    state,
    decisions,
    /** `ran`: whether the work ran in this call, `code` what the caller got instead of a result. */
    async call(mode: "claimed" | "optimistic", commits: boolean) {
      const before = state.runs;
      const work = async ({ commit }: Execution<DynamoDBWrite>) => {
        state.runs++;
        return commits ? commit("paid", { writes: [count] }) : "paid";
      };
      const answer = runOnce({ ...options, mode, observe }, "key-1", {}, work).then(
        () => undefined,
        (error: { code?: string }) => error.code ?? String(error),
      );
      return { code: await clock.run(answer), ran: state.runs > before };
    },
    async payments(): Promise<number> {
      const Key = { pk: { S: "payments" } };
      const { Item } = await setUp.send(new GetItemCommand({ TableName: counters, Key }));
      return Number(Item?.payments?.N ?? 0);
    },
    mend: () => {
      state.requests = Number.POSITIVE_INFINITY;
    },
  };
}

describe("runOnce on DynamoDBStore", () => {
  it.each([
    ["claimed", true],
    ["claimed", false],
    ["optimistic", true],
  ] as const)(
    'H12: no attempt gets "in progress" because of its own write, %s, with a commit: %s',
    async (mode, commits) => {
      const ends = new Set<string>();
      for (const fault of FAULTS) {
        const { call, clock, payments, mend, decisions } = await newShop(fault);

        const first = await call(mode, commits);
        mend();
        await clock.advance(3_600_000);
        const retry = await call(mode, commits);

        ends.add(`${first.ran} ${first.code}`);
        const seen = { fault, first, decisions };
        // Only this caller runs, so its own record refused a call that gets this error.
        expect([undefined, "STORE_UNAVAILABLE"], JSON.stringify(seen)).toContain(first.code);
        expect({ ...seen, code: retry.code }).toEqual({ ...seen, code: undefined });
        if (commits) expect({ ...seen, payments: await payments() }).toEqual({ ...seen, payments: 1 });
      }
      // The faults did something, and not everything failed.
      expect(ends).toContain("true undefined");
      expect(ends.size).toBeGreaterThan(1);
    },
  );
});
