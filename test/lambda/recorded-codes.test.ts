// A code proves nothing: what a handler threw is never taken for an answer of onceonly, first or replayed.
import type { SQSRecord } from "aws-lambda";
import { httpIdempotency, httpIdempotent, idempotentBatch, runOnce } from "onceonly";
import { beforeAll, describe, expect, inject, it, vi } from "vitest";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { describeOnMiddies } from "../kit/middies.ts";
import { ourErrors } from "../kit/our-errors.ts";
import { connect, createTable } from "../kit/tables.ts";
import { answered, givenBatch, returned, sqsRecord } from "./batch/given.ts";
import { bodyOf, given } from "./given.ts";
import { v2Event } from "./http/given.ts";

const event = (key: string) => v2Event({ headers: { "Idempotency-Key": `"${key}"` } });

const seen = (call: Promise<unknown>) =>
  call.then(
    (answer) => ({ answer }),
    ({ name, message, code }) => ({ name, message, code }),
  );

describe.each(inject("dynamodbEngines"))("answers 11, on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  beforeAll(async () => {
    tableName = await createTable(client);
  });

  it("H77: HTTP throws every error of a handler that carries one of our codes, first and replayed", async () => {
    const { options, context, decisions } = given();
    const { clock: _, random: __, ...rest } = options;
    let error: Error | undefined;
    let runs = 0;
    const handler = httpIdempotent(
      () => {
        runs++;
        throw error;
      },
      {
        ...rest,
        store: new DynamoDBStore({ tableName, client }),
        scope: "public",
        leaseSeconds: 30,
        isFinalError: () => true,
      },
    );

    for (const [title, make] of ourErrors()) {
      error = make();
      runs = 0;
      const { name, message, code } = error as Error & { code: string };

      const first = await seen(handler(event(title), context()));
      const later = await seen(handler(event(title), context()));

      expect([title, first, later]).toEqual([title, { name, message, code }, { name, message, code }]);
      expect([title, runs]).toEqual([title, 1]);
    }
    expect(decisions()).toEqual(ourErrors().flatMap(() => ["executed", "replayed"]));
  });

  it.each(["return", "acknowledge"] as const)(
    "H77: a batch treats every error of a record that carries one of our codes as the record's own: %s",
    async (whenFinalError) => {
      const { options, context, errors } = givenBatch();
      const { clock: _, random: __, ...rest } = options;
      const changeVisibility = vi.fn(async () => {});
      const kinds = new Map(ourErrors());
      const run = vi.fn(({ messageId }: SQSRecord) => {
        throw kinds.get(messageId)?.();
      });
      const handler = idempotentBatch(run, {
        ...rest,
        operation: `batch ${whenFinalError}`,
        store: new DynamoDBStore({ tableName, client }),
        leaseSeconds: 30,
        isFinalError: () => true,
        whenFinalError,
        changeVisibility,
      });
      const Records = [...kinds.keys()].map((title) => sqsRecord(title));
      const expected = whenFinalError === "return" ? [...kinds.keys()] : [];

      expect(returned(await answered(handler({ Records }, context())))).toEqual(expected);
      expect(returned(await answered(handler({ Records }, context())))).toEqual(expected);
      expect(run).toHaveBeenCalledTimes(Records.length);
      expect(changeVisibility).not.toHaveBeenCalled();
      expect(errors.length).toBe(2 * Records.length);
    },
  );
});

describeOnMiddies("httpIdempotency", (middy) => {
  it("H77: throws every error of a handler that carries one of our codes, first and replayed", async () => {
    const { options, context } = given();
    let error: Error | undefined;
    const handler = middy()
      .use(httpIdempotency({ ...options, scope: "public", isFinalError: () => true }))
      .handler(async () => {
        throw error;
      });

    for (const [title, make] of ourErrors()) {
      error = make();
      const { name, message, code } = error as Error & { code: string };

      const first = await seen(handler(event(title), context()));
      const later = await seen(handler(event(title), context()));

      expect([title, first, later]).toEqual([title, { name, message, code }, { name, message, code }]);
    }
  });
});

describe("httpIdempotent", () => {
  it("H77: releases, and runs again then, work that throws the unstorable result of another operation", async () => {
    const { options, context, states } = given();
    const inner = { ...options, operation: "reserve-stock", leaseSeconds: 5 };
    let runs = 0;
    const handler = httpIdempotent(
      () => {
        runs++;
        return runOnce(inner, "sku-1", {}, () => 1n);
      },
      { ...options, scope: "public" },
    );

    const first = await seen(handler(event("k"), context()));
    const between = states();
    const later = await seen(handler(event("k"), context()));

    expect(first).toMatchObject({ code: "RESPONSE_NOT_STORABLE" });
    expect(later).toEqual(first);
    expect([runs, between]).toEqual([2, ["released", "failed"]]);
  });

  it("H77: answers a commit of a result that isn't JSON with 500, first and replayed", async () => {
    const { options, context, states } = given();
    let runs = 0;
    const handler = httpIdempotent(
      async (_: unknown, { idempotency }) => {
        runs++;
        return idempotency.commit({ statusCode: 201, body: 1n });
      },
      { ...options, scope: "public" },
    );

    const answers = [await handler(event("k"), context()), await handler(event("k"), context())];

    expect(answers.map(bodyOf)).toEqual(
      Array(2).fill(expect.objectContaining({ status: 500, code: "RESPONSE_NOT_STORABLE" })),
    );
    expect([runs, states()]).toEqual([1, ["failed"]]);
  });

  it("H77: throws errors from `key`, `scope` and `fingerprint`, unless they are about the request", async () => {
    const { options, context, store } = given();
    const refusals = [
      "IDEMPOTENCY_KEY_MISSING",
      "IDEMPOTENCY_KEY_INVALID",
      "PAYLOAD_INVALID",
      "PAYLOAD_TOO_LARGE",
      "SCOPE_MISSING",
    ];
    for (const [title, make] of ourErrors()) {
      for (const name of ["key", "scope", "fingerprint"]) {
        const throwing = () => {
          throw make();
        };
        const handler = httpIdempotent(async () => "never", {
          ...options,
          scope: "public",
          [name]: throwing,
        });
        const { code } = make() as Error & { code: string };

        const answer = await seen(handler(event("k"), context()));

        if (!refusals.includes(code))
          expect([title, answer]).toEqual([title, expect.objectContaining({ code })]);
        else expect(bodyOf((answer as { answer: unknown }).answer)).toMatchObject({ code });
      }
    }
    expect(store.records.size).toBe(0);
  });
});
