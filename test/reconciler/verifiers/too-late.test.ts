// What another system has forgotten looks like what never happened.
import type { AbandonedAttempt } from "onceonly";
import {
  durableExecutionStarted,
  dynamoItemExists,
  executionStarted,
  httpLookup,
  s3ObjectExists,
} from "onceonly/reconciler";
import { describe, expect, it, vi } from "vitest";
import { questionAfter } from "./given.ts";

const DAY = 86_400;
const throws = (name: string) => () => Promise.reject(Object.assign(new Error(name), { name }));

type Options = { readonly remembersSeconds?: number };
type Verify = (previous: AbandonedAttempt<unknown>) => unknown;

/** Each asks a system in which nothing is found; with how long it remembers by default. */
const QUESTIONS: readonly (readonly [string, number, (more: Options) => Verify])[] = [
  [
    "httpLookup",
    DAY,
    (more) => httpLookup({ url: () => "http://provider/charges", found: () => undefined, ...more }),
  ],
  [
    "executionStarted",
    90 * DAY,
    (more) => {
      const client = { describeExecution: throws("ExecutionDoesNotExist") };
      return executionStarted({ client, executionArn: () => "arn", result: () => 1, ...more });
    },
  ],
  [
    "durableExecutionStarted",
    14 * DAY,
    (more) => {
      const client = { listDurableExecutionsByFunction: async () => ({ DurableExecutions: [] }) };
      const about = { functionName: "fulfil", qualifier: "live", name: () => "order-7", result: () => 1 };
      return durableExecutionStarted({ client, ...about, ...more });
    },
  ],
  [
    "dynamoItemExists",
    Number.POSITIVE_INFINITY,
    (more) => {
      const about = { tableName: "orders", key: () => ({ pk: "1" }), result: () => 1 };
      return dynamoItemExists({ client: { get: async () => ({}) }, ...about, ...more });
    },
  ],
  [
    "s3ObjectExists",
    Number.POSITIVE_INFINITY,
    (more) => {
      const client = { headObject: throws("NotFound") };
      return s3ObjectExists({ client, bucket: "invoices", key: () => "1", result: () => 1, ...more });
    },
  ],
];

// The question says that the attempt began 30 seconds before its lease ended.
const askedAfter = (seconds: number) => questionAfter<unknown>(seconds - 30, {});

describe.each(QUESTIONS)("%s", (_, byDefault, verifyWith) => {
  it("H79: R1: believes that nothing happened only as long as the other system would remember", async () => {
    vi.stubGlobal("fetch", async () => Response.json({}));
    for (const remembersSeconds of [undefined, 3 * DAY]) {
      const verify = verifyWith({ remembersSeconds } as Options);
      const end = remembersSeconds ?? Math.min(byDefault, 3000 * DAY);

      expect(await verify(askedAfter(end - 1))).toMatchObject({ outcome: "did-not-happen" });
      const late = await verify(askedAfter(end));
      if (remembersSeconds === undefined && byDefault > end)
        expect(late).toMatchObject({ outcome: "did-not-happen" });
      else
        expect(late).toMatchObject({
          outcome: "unknown",
          evidence: { answered: expect.stringMatching(/, too late to tell$/) },
        });
    }
    vi.unstubAllGlobals();
  });

  it("rejects an invalid time", () => {
    expect(() => verifyWith({ remembersSeconds: 0 })).toThrow(
      "`remembersSeconds` must be a number of seconds",
    );
  });
});
