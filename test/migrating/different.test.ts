// Where the two packages differ on purpose: each test says what either of them does.
import { IdempotencyConfig, makeIdempotent } from "@aws-lambda-powertools/idempotency";
import { DynamoDBPersistenceLayer } from "@aws-lambda-powertools/idempotency/dynamodb";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { idempotent } from "onceonly";
import { MemoryStore } from "onceonly/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DynamoDBModel } from "../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { clientError, failWith, loseAnswers } from "../kit/faults/faulty-client.ts";
import { createTable } from "../kit/tables.ts";
import { gate } from "../kit/time/gate.ts";
import {
  errorOf,
  type Handler,
  newContext,
  type Order,
  onceonly,
  type Package,
  powertools,
} from "./world.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
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
    lateAttempt: { late: "first", next: "second", later: "first" },
    lostAnswer: "IdempotencyAlreadyInProgressError",
    failedCompletion: "IdempotencyPersistenceLayerError",
    failedRelease: "IdempotencyPersistenceLayerError",
    largeResult: "IdempotencyPersistenceLayerError",
    numberAsKey: "no error, but 1",
    keyInError: true,
    withoutContext: { retry: "IdempotencyAlreadyInProgressError", runs: 1 },
    otherPayload: "no error, but 1",
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
    lateAttempt: { late: "second", next: "second", later: "second" },
    lostAnswer: 'no error, but "charged"',
    failedCompletion: 'no error, but "charged"',
    failedRelease: "RangeError",
    largeResult: "no error, but 614400",
    numberAsKey: "IdempotencyKeyInvalidError",
    keyInError: false,
    withoutContext: { retry: "InvalidOptionError", runs: 0 },
    otherPayload: "FingerprintMismatchError",
  },
])("$title", ({ setUp, ...expected }) => {
  let peer: Package;
  let runs: number;

  afterEach(() => {
    vi.useRealTimers();
  });

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

  it("a handler that throws a value that isn't an Error", async () => {
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

  it("an attempt that ends after its lock has run out and the next one has finished", async () => {
    vi.useFakeTimers({ now: START, toFake: ["Date"] });
    const late = gate();
    const handler = peer.wrap(async () => {
      if (++runs > 1) return "second";
      await late.opened;
      return "first";
    });
    const first = handler(ORDER, newContext(10_000));
    await vi.waitFor(() => expect(runs).toBe(1));
    vi.setSystemTime(START + 16_000);

    const next = await handler(ORDER, newContext());
    late.open();

    expect({ late: await first, next, later: await handler(ORDER, newContext()) }).toEqual(
      expected.lateAttempt,
    );
  });

  it("a claim whose answer gets lost, which the SDK sends again", async () => {
    const handler = peer.wrap(async () => "charged");
    loseAnswers(peer.client, 1);

    expect(await errorOf(handler(ORDER, newContext()))).toBe(expected.lostAnswer);
  });

  it("a result that the table refuses once, after the effect", async () => {
    const handler = peer.wrap(async () => {
      failWith(peer.client, clientError("ThrottlingException"));
      return "charged";
    });

    expect(await errorOf(handler(ORDER, newContext()))).toBe(expected.failedCompletion);
  });

  it("a handler that throws while the table can't be reached", async () => {
    const handler = peer.wrap(async () => {
      failWith(peer.client, clientError("ThrottlingException"));
      throw new RangeError("out of stock");
    });

    expect(await errorOf(handler(ORDER, newContext()))).toBe(expected.failedRelease);
  });

  it("a result larger than an item", async () => {
    const handler = peer.wrap(async () => "x".repeat(600 * 1024));
    const length = async () => ((await handler(ORDER, newContext())) as string).length;

    expect(await errorOf(length())).toBe(expected.largeResult);
  });

  it("a key that is a number", async () => {
    const handler = peer.wrap(async () => ++runs);

    expect(await errorOf(handler({ ...ORDER, id: 7 as never }, newContext()))).toBe(expected.numberAsKey);
  });

  it("the key in the error of a refused duplicate", async () => {
    const handler = peer.wrap(() => new Promise(() => runs++));
    void handler(ORDER, newContext());
    await vi.waitFor(() => expect(runs).toBe(1));

    const error: Error = await handler(ORDER, newContext()).then(
      () => expect.unreachable(),
      (error) => error,
    );

    const keys = (await peer.items()).map(({ id, pk }) => ((id ?? pk) as { S: string }).S);
    expect(keys.some((key) => error.message.includes(key))).toBe(expected.keyInError);
  });

  it("a function without a Lambda context that never ends", async () => {
    vi.useFakeTimers({ now: START, toFake: ["Date"] });
    const handler = peer.wrap(() => new Promise(() => runs++)) as (event: Order) => Promise<unknown>;
    void errorOf(handler(ORDER));
    await new Promise(setImmediate);
    // Longer than any invocation lasts, and shorter than the retention.
    vi.setSystemTime(START + 1_800_000);

    expect({ retry: await errorOf(handler(ORDER)), runs }).toEqual(expected.withoutContext);
  });

  it("another payload under a known key, without an option about payloads", async () => {
    const handler = peer.wrap(async () => ++runs, { comparesPayloads: false });
    await handler(ORDER, newContext());

    expect(await errorOf(handler({ ...ORDER, cents: 501 }, newContext()))).toBe(expected.otherPayload);
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
