// Where the two packages differ on purpose: each test says what either of them does.
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { idempotent } from "onceonly";
import { MemoryStore } from "onceonly/testing";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DynamoDBModel } from "../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { createTable } from "../kit/tables.ts";
import {
  errorOf,
  type Handler,
  newContext,
  type Order,
  onceonly,
  type Package,
  powertools,
} from "./world.ts";

const ORDER = { id: "order-1", cents: 500 };

describe.each([
  {
    title: "Powertools",
    setUp: powertools,
    undefinedInMiddy: { answers: [undefined, undefined], runs: 2 },
    emptyKey: "IdempotencyPersistenceLayerError",
    thrownText: "IdempotencyUnknownError",
    recordsWithoutKey: 0,
    afterFailure: [],
    changedEvent: "IdempotencyAlreadyInProgressError",
    methodOf: "a shop",
  },
  {
    title: "onceonly",
    setUp: onceonly,
    undefinedInMiddy: { answers: [undefined, undefined], runs: 1 },
    emptyKey: "IdempotencyKeyInvalidError",
    thrownText: "a thrown string",
    recordsWithoutKey: 2,
    afterFailure: ["released"],
    changedEvent: 'no error, but "charged"',
    methodOf: undefined,
  },
])("$title", ({ setUp, ...expected }) => {
  let peer: Package;
  let runs: number;

  beforeEach(async () => {
    vi.spyOn(console, "warn").mockImplementation(() => {});
    peer = await setUp();
    runs = 0;
  });

  it("a Middy handler that returns undefined", async () => {
    const handler = peer.use(async () => {
      runs++;
    });

    const answers = [await handler(ORDER, newContext()), await handler(ORDER, newContext())];

    expect({ answers, runs }).toEqual(expected.undefinedInMiddy);
  });

  it("a key that is an empty text", async () => {
    const handler = peer.wrap(async () => ++runs);

    expect(await errorOf(handler({ ...ORDER, id: "" }, newContext()))).toBe(expected.emptyKey);
  });

  it("a handler that throws what is no Error", async () => {
    const handler = peer.wrap(async () => {
      throw "out of stock";
    });

    expect(await errorOf(handler(ORDER, newContext()))).toBe(expected.thrownText);
  });

  it("what is recorded of events without a key that run all the same", async () => {
    const handler = peer.wrap(async () => ++runs, { runsWithoutKey: true });

    await handler({ cents: 500 }, newContext());
    await handler({ cents: 500 }, newContext());

    expect([runs, (await peer.items()).length]).toEqual([2, expected.recordsWithoutKey]);
  });

  it("what is left of a call that failed", async () => {
    const handler = peer.wrap(async () => {
      throw new Error("the gateway is down");
    });

    await errorOf(handler(ORDER, newContext()));

    const states = (await peer.items()).map(({ state }) => (state as { S?: string }).S);
    expect(states).toEqual(expected.afterFailure);
  });

  it("a handler that changes its event", async () => {
    const handler = peer.wrap(async (event) => {
      Object.assign(event, { id: "changed" });
      return "charged";
    });
    await handler({ ...ORDER }, newContext());

    expect(await errorOf(handler({ ...ORDER }, newContext()))).toBe(expected.changedEvent);
  });

  it("a method that is wrapped, and its `this`", async () => {
    const shop = {
      name: "a shop",
      charge: peer.wrap(async function (this: { name: string } | undefined) {
        return this?.name;
      }),
    };

    expect(await shop.charge(ORDER, newContext())).toBe(expected.methodOf);
  });
});

describe("one store for operations with settings of their own", () => {
  const byId: Handler = async ({ id }) => id;
  const byNote: Handler = async ({ note }) => note;
  const events: readonly Order[] = [
    { id: "1", note: "a" },
    { id: "1", note: "b" },
  ];

  it("keeps the settings of the first one, in Powertools", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const client = new DynamoDBClient(new DynamoDBModel().clientConfig());
    const tableName = await createTable(client, "id");
    const persistenceStore = new DynamoDBPersistenceLayer({ tableName, awsSdkV3Client: client });
    const wrap = (handler: Handler, eventKeyJmesPath: string) =>
      makeIdempotent(handler, {
        persistenceStore,
        keyPrefix: eventKeyJmesPath,
        config: new IdempotencyConfig({ eventKeyJmesPath }),
      }) as Handler;
    const [first, second] = [wrap(byId, "id"), wrap(byNote, "note")];
    await first(events[0]!, newContext());

    const answers = [await second(events[0]!, newContext()), await second(events[1]!, newContext())];

    expect(answers).toEqual(["a", "a"]);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining("already configured"));
  });

  it("has settings of none, in onceonly", async () => {
    const store = new MemoryStore();
    const wrap = (handler: Handler, name: "id" | "note") =>
      idempotent(handler as never, {
        operation: name,
        store,
        key: (event: Order) => event[name],
      }) as unknown as Handler;
    const [first, second] = [wrap(byId, "id"), wrap(byNote, "note")];
    await first(events[0]!, newContext());

    const answers = [await second(events[0]!, newContext()), await second(events[1]!, newContext())];

    expect(answers).toEqual(["a", "b"]);
  });
});
