// What is stored of a result that holds secrets, and what replays answer then.
import { afterEach, describe, expect, it, vi } from "vitest";
import { ResultNotKeptError } from "../../lib/core/errors.ts";
import { resolveOutcome } from "../../lib/core/resolve-outcome.ts";
import type { Store } from "../../lib/core/store.ts";
import { httpIdempotent } from "../../lib/lambda/http/http.ts";
import { cached } from "../../lib/stores/cached.ts";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { type Redact, redacted } from "../../lib/stores/redacted.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { abandoned } from "../core/abandoned-given.ts";
import { newWorld, type World } from "../core/world.ts";
import { bodyOf, given } from "../lambda/given.ts";
import { v2Event } from "../lambda/http/given.ts";
import { keyService } from "./privacy-given.ts";

const KEY = { "Idempotency-Key": '"k1"' };
const SECRET = "canary-4711";
const RESULT = { order: "o-1", card: { number: SECRET } };
const withoutCard = ({ order }: typeof RESULT) => ({ order });
const never = () => expect.unreachable("it ran again");

/** All that the store has. */
const stored = ({ memory }: Pick<World, "memory">) => JSON.stringify([...memory.records.values()]);

afterEach(() => vi.restoreAllMocks());

function warnings(): unknown[][] {
  return vi.spyOn(process, "emitWarning").mockImplementation(() => {}).mock.calls;
}

function redacting(redact: Redact, options: Parameters<typeof newWorld>[0] = {}) {
  const world = newWorld(options);
  const store = redacted(world.memory, redact);
  return { ...world, call: (work: Parameters<World["call"]>[0]) => world.call(work, { store }) };
}

describe.each(["claimed", "optimistic"] as const)("redacted, %s", (mode) => {
  it("H38: the call that runs gets the whole result, and replays get the stored part", async () => {
    const world = redacting(withoutCard, { mode });

    const first = await world.call(async () => RESULT);
    const replay = await world.call(never);

    expect([first, replay]).toEqual([RESULT, { order: "o-1" }]);
    expect(stored(world)).not.toContain(SECRET);
  });

  it("H38: so it is with a commit, and its handler keeps the whole result", async () => {
    const world = redacting(withoutCard, { mode });
    const committed: unknown[] = [];

    const first = await world.call(async ({ commit }) => {
      committed.push(await commit(RESULT, {}));
    });

    expect([first, ...committed, await world.call(never)]).toEqual([RESULT, RESULT, { order: "o-1" }]);
    expect(stored(world)).not.toContain(SECRET);
  });

  it.each([RESULT, SECRET, null, "not kept"])(
    'H38: "all" stores nothing of %j: a replay reports that it is not kept, and nothing runs again',
    async (result) => {
      const world = redacting("all", { mode });

      expect(await world.call(async () => result)).toEqual(result);
      const replay = world.call(never);

      await expect(replay).rejects.toBeInstanceOf(ResultNotKeptError);
      await expect(replay).rejects.toMatchObject({ bytes: 0, code: "RESULT_NOT_KEPT" });
      expect(stored(world)).not.toContain(SECRET);
    },
  );

  it("stores no result as none, and does not ask", async () => {
    const world = redacting(never, { mode });

    await world.call(async () => undefined);

    expect(await world.call(async () => "never")).toBeUndefined();
  });

  it("a text that is the mark of a result that is not kept is a result like any other", async () => {
    const world = redacting((result) => result, { mode });

    await world.call(async () => "not kept");

    expect(await world.call(never)).toBe("not kept");
  });

  it("can't change the result of the call that runs", async () => {
    const world = redacting(
      (result: typeof RESULT) => {
        result.card.number = "";
        return result;
      },
      { mode },
    );

    expect(await world.call(async () => structuredClone(RESULT))).toEqual(RESULT);
    expect(await world.call(never)).toEqual({ order: "o-1", card: { number: "" } });
  });

  it.each<[string, Redact, string]>([
    [
      "throws",
      () => {
        throw new TypeError(SECRET);
      },
      "TypeError",
    ],
    ["returns a promise", async () => ({}), "ResponseNotStorableError"],
    ["returns what is no JSON", () => ({ at: new Date(0) }), "ResponseNotStorableError"],
  ])(
    "if it %s the effect is recorded, nothing of the result is, and the process warns",
    async (_, redact, name) => {
      const warned = warnings();
      const world = redacting(redact, { mode });

      expect(await world.call(async () => RESULT)).toEqual(RESULT);
      await expect(world.call(never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });

      expect(warned).toEqual([[expect.stringContaining(`failed with ${name}`), { code: "ONCEONLY_REDACT" }]]);
      expect(stored(world) + JSON.stringify(warned)).not.toContain(SECRET);
    },
  );

  it.each<[string, (store: Store<MemoryWrite>) => Store<MemoryWrite>]>([
    ["encryption behind it", (store) => redacted(encrypted(store, { keys: keyService() }), "all")],
    ["a cache behind it", (store) => redacted(cached(store), "all")],
    ["a cache in front of it", (store) => cached(redacted(store, "all"))],
  ])("H38: keeps its word with %s", async (_, around) => {
    const world = newWorld({ mode });
    const store = around(world.memory);

    await world.call(async () => RESULT, { store });

    for (let replay = 0; replay < 2; replay++)
      await expect(world.call(never, { store })).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(stored(world)).not.toContain(SECRET);
  });
});

it("H38: what verify returns for an abandoned attempt is redacted too", async () => {
  const world = await abandoned(() => ({ outcome: "happened", result: RESULT }));
  const store = redacted(world.memory, withoutCard);

  expect([await world.call(never, { store }), await world.call(never, { store })]).toEqual([
    RESULT,
    { order: "o-1" },
  ]);
  expect(stored(world)).not.toContain(SECRET);
});

it("H38: and so is an operator's decision", async () => {
  const world = await abandoned("hold");
  const store = redacted(world.memory, withoutCard);
  await world.call(never, { store }).catch(() => {});

  const answer = await resolveOutcome(
    { operation: "create-order", scope: "tenant-1", store, clock: world.clock },
    "key-1",
    {
      ...{ outcome: "happened", result: RESULT, by: "ann", why: "asked the bank" },
    },
  );

  expect(answer).toEqual({ resolved: true });
  expect(await world.call(never, { store })).toEqual({ order: "o-1" });
  expect(stored(world)).not.toContain(SECRET);
});

it("over HTTP a replay without a stored response is answered 410", async () => {
  const { options, context } = given();
  const handler = httpIdempotent(async () => ({ statusCode: 201, body: SECRET }), {
    ...options,
    store: redacted(options.store, "all"),
    scope: "public",
  });

  expect(await handler(v2Event({ headers: KEY }), context())).toMatchObject({
    statusCode: 201,
    body: SECRET,
  });
  const replay = await handler(v2Event({ headers: KEY }), context());

  expect(replay).toMatchObject({ statusCode: 410 });
  expect(bodyOf(replay).code).toBe("RESULT_NOT_KEPT");
});

it("rejects an invalid redaction, and encryption in front of it, immediately", () => {
  const { memory } = newWorld();

  expect(() => redacted(memory, "none" as never)).toThrow("redact");
  expect(() => redacted({} as never, "all")).toThrow("store");
  expect(() => encrypted(redacted(memory, "all"), { keys: keyService() })).toThrow(
    "redacted(encrypted(store))",
  );
});
