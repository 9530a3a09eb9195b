import { httpIdempotency, httpIdempotent } from "onceonly";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { describeOnMiddies } from "../kit/middies.ts";
import { connect, createTable } from "../kit/tables.ts";
import { type Answer, bodyOf, given } from "./given.ts";
import { EVENT_FORMS, v2Event } from "./http/given.ts";

const headers = { "Idempotency-Key": '"k1"' };

describe.each(inject("dynamodbEngines"))("on $name", ({ endpoint }) => {
  const client = connect(endpoint);
  let tableName: string;
  beforeAll(async () => {
    tableName = await createTable(client);
  });
  /** Each test has an operation, and so records, of its own. */
  const optionsFor = (operation: string) => {
    const { options, context, decisions } = given();
    // The real time: the engine's clock is compared with it.
    const { clock: _, random: __, ...rest } = options;
    return {
      options: { ...rest, operation, store: new DynamoDBStore({ tableName, client }), leaseSeconds: 30 },
      context,
      decisions,
    };
  };

  describe.each(EVENT_FORMS)("httpIdempotent with %s", (name, form) => {
    it("gives ten concurrent and ten later requests one effect and one answer", async () => {
      const { options, context } = optionsFor(`burst ${name}`.slice(0, 64));
      let effects = 0;
      const handler = httpIdempotent(async () => ({ statusCode: 201, body: `order ${++effects}` }), {
        ...options,
        scope: "public",
        whenInProgress: { waitSeconds: 10 },
      });
      const send = () => handler(form({ headers }), context()) as Promise<unknown>;

      const answers = (await Promise.all(Array.from({ length: 10 }, send))) as Answer[];
      for (let count = 0; count < 10; count++) answers.push((await send()) as Answer);

      expect(new Set(answers.map(({ statusCode, body }) => `${statusCode} ${body}`))).toEqual(
        new Set(["201 order 1"]),
      );
      expect(effects).toBe(1);
    });
  });

  describeOnMiddies("httpIdempotency", (middy) => {
    const suffix = String(Math.random()).slice(2);

    it("commits the order with its record, and replays the committed answer", async () => {
      const { options, context, decisions } = optionsFor(`commit ${suffix}`);
      const order = { pk: `order ${suffix}`, item: "book" };
      const handler = middy()
        .use(httpIdempotency({ ...options, scope: "public" }))
        .handler(async (_event: unknown, { idempotency }) =>
          idempotency.commit(
            { statusCode: 201, headers: { "Set-Cookie": "a=1" }, body: order.item },
            {
              writes: [
                {
                  Put: {
                    TableName: tableName,
                    Item: order,
                    ConditionExpression: "attribute_not_exists(pk)",
                  },
                },
              ],
            },
          ),
        );
      const send = () => handler(v2Event({ headers }), context() as never) as Promise<unknown>;

      expect(await send()).toEqual({ statusCode: 201, headers: { "Set-Cookie": "a=1" }, body: "book" });
      expect(await send()).toEqual({
        statusCode: 201,
        headers: { "Idempotent-Replayed": "true" },
        body: "book",
      });
      expect(decisions()).toEqual(["executed", "replayed"]);
    });

    it("releases after an error, refuses another payload, and replays large answers", async () => {
      const { options, context } = optionsFor(`large ${suffix}`);
      const body = Array.from({ length: 9000 }, (_, index) => `row ${index}`).join();
      let runs = 0;
      const handler = middy()
        .use(httpIdempotency({ ...options, scope: "public" }))
        .handler(async () => {
          if (++runs === 1) throw new Error("try again");
          return { statusCode: 200, body };
        });
      const send = (payload: string) =>
        handler(v2Event({ headers, body: payload }), context() as never) as Promise<unknown>;

      await expect(send("a")).rejects.toThrow("try again");
      expect(await send("b")).toEqual({ statusCode: 200, body });
      expect(await send("b")).toMatchObject({ statusCode: 200, body });
      expect(bodyOf(await send("a")).status).toBe(422);
      expect(runs).toBe(2);
    });
  });

  describe("answers 21: a store that cannot be asked", () => {
    const unreachable = connect("http://127.0.0.1:1", { maxAttempts: 1 });
    const stores = {
      "a table that is not there": new DynamoDBStore({ tableName: "no-such-table", client }),
      "an endpoint where nobody listens": new DynamoDBStore({ tableName: "any", client: unreachable }),
    };

    it.each([
      ["a table that is not there", "claimed", 500, undefined],
      ["a table that is not there", "optimistic", 500, undefined],
      ["an endpoint where nobody listens", "claimed", 503, "1"],
      ["an endpoint where nobody listens", "optimistic", 503, "1"],
    ] as const)("%s, %s: nothing runs, and the answer is %i", async (which, mode, statusCode, wait) => {
      const { options, context } = optionsFor("broken");
      let effects = 0;
      const handler = httpIdempotent(async () => ({ statusCode: 200, body: `${++effects}` }), {
        ...options,
        store: stores[which],
        mode,
        scope: "public",
      });

      const answer = (await handler(v2Event({ headers }), context())) as unknown as Answer;

      expect(answer.statusCode).toBe(statusCode);
      expect(answer.headers?.["Retry-After"]).toBe(wait);
      expect(bodyOf(answer).code).toBe("STORE_UNAVAILABLE");
      expect(effects).toBe(0);
    });

    it.each([
      ["a table that is not there", 500, 0],
      ["an endpoint where nobody listens", 200, 3],
    ] as const)('%s, `whenStoreFails: "run"`: three calls', async (which, statusCode, runs) => {
      const { options, context, decisions } = optionsFor("outage");
      let effects = 0;
      const handler = httpIdempotent(async () => ({ statusCode: 200, body: `${++effects}` }), {
        ...options,
        store: stores[which],
        whenStoreFails: "run",
        leaseSeconds: 0.2,
        scope: "public",
      });

      for (let call = 0; call < 3; call++) {
        const answer = (await handler(v2Event({ headers }), context(200))) as unknown as Answer;
        expect(answer.statusCode).toBe(statusCode);
      }

      expect(effects).toBe(runs);
      expect(decisions().includes("ran-unprotected")).toBe(runs > 0);
    });

    it("a commit that DynamoDB can never accept is the handler's own error, releases, and doesn't count as an outage", async () => {
      const { options, context, decisions } = optionsFor("never taken");
      const errors: unknown[] = [];
      const handler = httpIdempotent(
        async (_event: unknown, { idempotency }) => {
          const broken = { TableName: tableName, Key: { pk: "a" }, UpdateExpression: "SET = nonsense" };
          const commit = idempotency.commit({ statusCode: 201, body: "" }, { writes: [{ Update: broken }] });
          return commit.catch((error: unknown) => {
            errors.push(error);
            throw error;
          });
        },
        { ...options, scope: "public" },
      );

      await expect(handler(v2Event({ headers }), context())).rejects.toMatchObject({
        code: "COMMIT_INVALID",
      });

      expect(errors).toEqual([
        expect.objectContaining({
          code: "COMMIT_INVALID",
          index: 0,
          retryable: false,
          message: expect.stringMatching(/writes\[0\].*(ValidationException|ValidationError)/),
        }),
      ]);
      expect(decisions()).toEqual(["released"]);
    });
  });
});
