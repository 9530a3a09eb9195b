// Each configuration of the store's own client, and of the lean one, beside `client.send` on the same network.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Connection } from "../../lib/dynamodb/connection.ts";
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
      ends.push(await sending.then(describeOutput, describeError));
    };
    await end(connection.send("PutItem", put("records", [0, 255, 7])));
    await end(connection.send("GetItem", { TableName: ARN, Key: { pk: { S: "1" } } }));
    const TransactItems = [{ Put: put(ARN) }, { Put: put(ARN.replace("records", "orders")) }];
    await end(connection.send("TransactWriteItems", { TransactItems, ClientRequestToken: "same" }));
    return { requests: [...world.seen], ends };
  });
}

const describeOutput = (output: object) => ({ output: withoutTimes(output) });

/** Everything that a caller, a tracer or a retry strategy may read of an error. */
function describeError(error: Error & { readonly $response?: { readonly statusCode: number } }) {
  const fields = Object.entries(Object.getOwnPropertyDescriptors(error)).map(
    ([name, { value, enumerable }]) => [
      name,
      { value: ["stack", "$response"].includes(name) ? typeof value : withoutTimes(value), enumerable },
    ],
  );
  return {
    ...Object.fromEntries(fields),
    class: error.constructor.name,
    name: error.name,
    status: error.$response?.statusCode,
  };
}

/** Without what differs each time. */
function withoutTimes(value: unknown): unknown {
  const { requestId: _, totalRetryDelay: __, serverTimeMs: ___, ...rest } = Object(value);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (value instanceof Error) return `${value}`;
  if (Array.isArray(value)) return value.map(withoutTimes);
  return Object.fromEntries(Object.entries(rest).map(([name, inner]) => [name, withoutTimes(inner)]));
}

/** The lean client has a name of its own, and sends to the Region's endpoint where the SDK may choose an account's. */
const leanComparable = ({
  headers: _,
  signed: __,
  userAgent: ___,
  trace: ____,
  host,
  ...request
}: SeenRequest) => ({
  ...request,
  host: host.replace(/^\d{12}\.ddb\./, "dynamodb."),
});

const isDone = (end: unknown): boolean => "output" in (end as object);

it("H94: compares 165 configurations", () => {
  expect(Object.keys(ROWS).length).toBe(165);
});

describe.each(SDKS)("H94: the store's own client from %s", (name) => {
  let load: Awaited<ReturnType<typeof loadOver>>;

  beforeAll(async () => {
    load = await loadOver(name);
  });

  it.each(Object.entries(ROWS))("sends and returns the same as client.send: %s", async (_, row) => {
    const { connect, makePlain } = load;
    const through = await use(row, () => connect({ client: makePlain() }));
    const own = await use(row, () => connect({}));

    expect(own).toEqual(through);
    expect(own.requests.filter(({ isVerified }) => !isVerified)).toEqual([]);
  });
});

describe("H94: the lean client", () => {
  const refused: string[] = [];
  let load: Awaited<ReturnType<typeof loadOver>>;

  beforeAll(async () => {
    load = await loadOver("@aws-sdk/client-dynamodb");
  });

  it.each(Object.entries(ROWS))(
    "sends the same as client.send, or rejects by name: %s",
    async (title, row) => {
      const { connect, makePlain } = load;
      const through = await use(row, () => connect({ client: makePlain() }));
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

  it("rejects only what needs the SDK", () => {
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
