// Each configuration of the store's own client, and of the lean one, beside `client.send` on the same network.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Connection } from "../../lib/dynamodb/connection.ts";
import type { ClientOptions } from "../../lib/dynamodb/options.ts";
import { LeanDynamoDB } from "../../lib/lean/lean-dynamodb.ts";
import { ROWS } from "./client-rows.ts";
import { ClientsWorld, loadOver, type Row, SDKS, type SeenRequest } from "./clients-world.ts";

const ARN = "arn:aws:dynamodb:eu-central-1:210987654321:table/records";

const world = new ClientsWorld();

beforeAll(() => world.open());

afterAll(() => world.close());

interface Outcome {
  readonly requests: readonly SeenRequest[];
  readonly ends: readonly unknown[];
}

const put = (TableName: string, bytes: readonly number[] = []) => ({
  TableName,
  Item: { pk: { S: "ü" }, bytes: { B: new Uint8Array(bytes) } },
});

/** One request by name, one by ARN, one with several ARNs. */
async function use(row: Row, make: () => Connection): Promise<Outcome> {
  return world.during(row, async () => {
    const connection = make();
    const ends: unknown[] = [];
    const end = async (sending: Promise<object>): Promise<void> => {
      ends.push(await sending.then(() => "done", describeError));
    };
    await end(connection.send("PutItem", put("records", [0, 255, 7])));
    await end(connection.send("GetItem", { TableName: ARN, Key: { pk: { S: "1" } } }));
    const TransactItems = [{ Put: put(ARN) }, { Put: put(ARN.replace("records", "orders")) }];
    await end(connection.send("TransactWriteItems", { TransactItems, ClientRequestToken: "same" }));
    return { requests: [...world.seen], ends };
  });
}

function describeError(error: {
  readonly name: string;
  readonly $metadata?: { readonly attempts?: number; readonly httpStatusCode?: number };
}) {
  const { name, $metadata } = error;
  return { name, attempts: $metadata?.attempts, status: $metadata?.httpStatusCode };
}

/** The direct way says less of itself in one header, and signs fewer of them. */
const comparable = ({ isThroughSdk: _, ...request }: SeenRequest) => request;

/** The lean client has a name of its own, and sends to the Region's endpoint where the SDK may choose an account's. */
const leanComparable = ({ isThroughSdk: _, userAgent: __, trace: ___, host, ...request }: SeenRequest) => ({
  ...request,
  host: host.replace(/^\d{12}\.ddb\./, "dynamodb."),
});

const isDone = (end: unknown): boolean => end === "done";

it("H94: compares 165 configurations", () => {
  expect(Object.keys(ROWS).length).toBe(165);
});

describe.each(SDKS)("H94: the store's own client from %s", (name) => {
  const isKnown = name !== "client-dynamodb-oldest";
  let connect: (options: ClientOptions) => Connection;

  beforeAll(async () => {
    ({ connect } = await loadOver(name));
  });

  it.each(Object.entries(ROWS))("sends what client.send sends: %s", async (title, row) => {
    const through = await use(row, () => connect({ direct: false }));
    const own = await use(row, () => connect({ direct: true }));

    expect(own.requests.map(comparable)).toEqual(through.requests.map(comparable));
    expect(own.ends).toEqual(through.ends);
    expect([...own.requests, ...through.requests].filter(({ isVerified }) => !isVerified)).toEqual([]);
    expect(through.requests.every(({ isThroughSdk }) => isThroughSdk)).toBe(true);
    if (!title.includes("query")) {
      expect(own.requests.some(({ isThroughSdk }) => isThroughSdk)).toBe(!isKnown && own.requests.length > 0);
    }
  });
});

describe("H94: the lean client", () => {
  const refused: string[] = [];
  let connect: (options: ClientOptions) => Connection;

  beforeAll(async () => {
    ({ connect } = await loadOver("@aws-sdk/client-dynamodb"));
  });

  it.each(Object.entries(ROWS))(
    "sends what client.send sends, or refuses by name: %s",
    async (title, row) => {
      const through = await use(row, () => connect({ direct: false }));
      const lean = await use(row, () => new LeanDynamoDB());

      if (lean.requests.length === 0 && through.requests.length > 0) {
        expect(lean.ends).toEqual(
          Array(3).fill(expect.objectContaining({ name: expect.stringMatching(/Error$/) })),
        );
        refused.push(title);
        return;
      }
      expect(lean.requests.filter(({ isVerified }) => !isVerified)).toEqual([]);
      expect(lean.ends.map(isDone)).toEqual(through.ends.map(isDone));
      // It asks for newer credentials, and tries once more.
      if (title.includes("have expired")) return;
      expect(lean.requests.map(leanComparable)).toEqual(through.requests.map(leanComparable));
    },
  );

  it("refuses only what needs the SDK", () => {
    expect(refused).toEqual([
      "region local",
      "account id unknown, mode required",
      "account id 123456789012, mode required",
      "AWS_USE_FIPS_ENDPOINT is TRUE",
      "AWS_USE_FIPS_ENDPOINT is 1",
      "AWS_USE_DUALSTACK_ENDPOINT is TRUE",
      "AWS_USE_DUALSTACK_ENDPOINT is 1",
      "the default profile has its endpoint",
      "a profile that is named has its endpoint",
      "the default profile has its services",
      "a profile that is named has its services",
      "the default profile has FIPS",
      "a profile that is named has FIPS",
      "the default profile has dual stack",
      "a profile that is named has dual stack",
      "the default profile has an account id endpoint mode",
      "a profile that is named has an account id endpoint mode",
      "the default profile has a Region, and the environment none",
      "D2: a LocalStack profile with an endpoint beside keys of the environment",
    ]);
  });
});
