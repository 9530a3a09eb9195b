import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { isThroughSdk, type RecordedAnswer, recordRequests } from "./requests-world.ts";

const refusal = (name: string, more: object = {}): string =>
  JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: `of ${name}`, ...more });

const broken = (code: string): Error => Object.assign(new Error(`read ${code}`), { code });

const now = () => Math.floor(Date.now() / 1000) * 1000;

/** What a read came to, and in how many tries. */
async function outcomeOf(
  answers: readonly (RecordedAnswer | Error)[],
  direct: boolean,
  config: DynamoDBClientConfig = {},
) {
  const { client, requests } = recordRequests(config, answers);
  const store = new DynamoDBStore({ tableName: "records", client, direct });
  const outcome = await store.find("key", { consistent: true }).then(
    () => "read",
    (error) => `${error.failure}: ${error.cause.name}, ${error.cause.$metadata?.attempts}`,
  );
  expect(requests.every(isThroughSdk)).toBe(!direct);
  return { outcome, tries: requests.map(({ headers }) => headers["amz-sdk-request"]) };
}

const twice = () => {
  const tokenOf = (count: number) => ({ getRetryCount: () => count, getRetryDelay: () => 1 });
  return {
    acquireInitialRetryToken: async () => tokenOf(0),
    refreshRetryTokenForRetry: async (token: ReturnType<typeof tokenOf>) => {
      if (token.getRetryCount() === 1) throw new Error("twice is enough");
      return tokenOf(1);
    },
    recordSuccess: () => undefined,
  };
};

const CASES: Record<string, readonly (RecordedAnswer | Error)[]> = {
  "H12: an answer that got lost": [broken("ECONNRESET")],
  "a connection that is refused": [broken("ECONNREFUSED"), broken("ETIMEDOUT")],
  "a handler that gave up": [Object.assign(new Error("late"), { name: "TimeoutError" })],
  "a throttle": [{ status: 400, body: refusal("ProvisionedThroughputExceededException") }],
  "an error of the service": [{ status: 500, body: refusal("InternalServerError") }],
  "the page of a gateway": [{ status: 503, body: "<html>unavailable</html>" }],
  "errors of the service without end": Array.from({ length: 9 }, () => ({
    status: 500,
    body: refusal("InternalServerError"),
  })),
  "H12: a mistake": [{ status: 400, body: refusal("ValidationException") }],
  "credentials that have expired": [{ status: 400, body: refusal("ExpiredTokenException") }],
  "a request that was aborted": [Object.assign(new Error("aborted"), { name: "AbortError" })],
  "a table that is not there": [{ status: 400, body: refusal("ResourceNotFoundException") }],
};

describe("DynamoDBStore, past the middleware of the SDK, when a request fails", () => {
  it.each(Object.entries(CASES))(
    "tries it as often as the SDK, and says the same: %s",
    async (_, answers) => {
      const through = await outcomeOf(answers, false);

      expect(await outcomeOf(answers, true)).toEqual(through);
    },
  );

  it.each<[string, DynamoDBClientConfig]>([
    ["one try", { maxAttempts: 1 }],
    ["adaptive retries", { retryMode: "adaptive" }],
    ["a strategy of one's own", { retryStrategy: twice() as never }],
  ])("keeps to the settings of the client: %s", async (_, config) => {
    const answers = CASES["errors of the service without end"]!;
    const through = await outcomeOf(answers, false, config);

    expect(await outcomeOf(answers, true, config)).toEqual(through);
  });

  it("signs at the service's time once it is told that its own is wrong", async () => {
    const skewMs = 3_600_000;
    const date = new Date(now() + skewMs).toUTCString();
    const { client, requests } = recordRequests({}, [
      { status: 400, body: refusal("InvalidSignatureException"), headers: { date } },
    ]);
    const store = new DynamoDBStore({ tableName: "records", client });

    await store.find("key", { consistent: true });
    await store.find("key", { consistent: true });

    const hours = requests.map(({ headers }) => headers["x-amz-date"]?.slice(0, 11));
    const [wrong, right] = [0, skewMs].map((ms) =>
      new Date(now() + ms).toISOString().replaceAll("-", "").slice(0, 11),
    );
    expect(hours).toEqual([wrong, right, right]);
  });

  it("tells the database's time from each answer", async () => {
    const date = "Tue, 15 Nov 1994 12:45:26 GMT";
    const { client } = recordRequests({}, [{ headers: { date } }]);
    const store = new DynamoDBStore({ tableName: "records", client });

    const answer = await store.claim({ recordKey: "k", token: "t", leaseEndsAt: 1 } as never);

    expect(answer).toEqual({ won: true, serverTimeMs: Date.parse(date) });
  });

  it("reads the bytes of an item that refused", async () => {
    const { client } = recordRequests({}, [
      {
        status: 400,
        body: refusal("ConditionalCheckFailedException", {
          Item: { pk: { S: "k" }, result: { B: "H4sIAAAAAAAAA1MyMlYCAH0X2esFAAAA" } },
        }),
      },
    ]);
    const store = new DynamoDBStore({ tableName: "records", client });

    const claim = store.claim({ recordKey: "k", token: "t", leaseEndsAt: 1 } as never);

    await expect(claim).rejects.toThrow("attribute version");
  });

  it.each(["{", "[]", '"text"', ""])(
    "tries an answer again that is no answer of DynamoDB: %j",
    async (body) => {
      const { outcome, tries } = await outcomeOf([{ body }], true);

      expect([outcome, tries.length]).toEqual(["read", 2]);
    },
  );
});
