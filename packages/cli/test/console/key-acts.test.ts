// What the console lets a person decide about one key, and about a group, over a table of a real engine.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { OutcomeUnknownError, PermanentError } from "../../../../lib/core/errors.ts";
import { identify } from "../../../../lib/core/identity.ts";
import { runOnce } from "../../../../lib/core/run-once.ts";
import { httpIdempotent } from "../../../../lib/lambda/http/http.ts";
import { saga } from "../../../../lib/saga/saga.ts";
import type { ConsoleSource } from "../../lib/console/console-source.ts";
import { tableSource } from "../../lib/console/table-source.ts";
import { openTable } from "../../lib/table.ts";
import { holding, holdKey } from "../held-given.ts";
import { newWorld, type World } from "../world.ts";

const SAID = { by: "ana", why: "ticket 7" };

let world: World;
let source: ConsoleSource;
beforeAll(async () => {
  world = await newWorld();
  const { tableName: name, endpoint, clock } = world;
  const table = await openTable({ table: name, endpoint });
  source = tableSource({ table, name, clock });
  return () => table.close();
});

const hashOf = async (key: string, operation = "charge") =>
  (await source.find({ operation, scope: "", key })).keyHash;
const ran = (key: string, operation = "charge") => runOnce(holding(world, operation), key, {}, () => "ran");

async function actOn(key: string, act: string, more: object = {}, operation = "charge") {
  const hash = await hashOf(key, operation);
  return source.act({ act, key: hash, ...SAID, ...more });
}

async function lifeOf(key: string, operation = "charge") {
  return (await source.lifeOf(await hashOf(key, operation)))!;
}

describe("a held key on the page", () => {
  it("H90: can be decided both ways, and released", async () => {
    const life = await lifeOf(await holdKey(world));

    expect(life).toMatchObject({
      state: "held",
      openSteps: [],
      isHttp: false,
      createdAt: expect.any(Number),
    });
    expect(life.choices).toEqual(["happened", "did-not-happen", "release"]);
  });

  it("H90: happened: every caller gets the answer, and the handler doesn't run", async () => {
    const key = await holdKey(world);

    const answer = await actOn(key, "happened", { answer: '{"charge":"ch_1"}' });

    expect(answer).toEqual({ done: true, message: expect.stringContaining("every caller gets this answer") });
    expect(await ran(key)).toEqual({ charge: "ch_1" });
    expect(JSON.stringify((await lifeOf(key)).tree)).toMatch(/happened, by ana.*ticket 7/);
  });

  it.each(["did-not-happen", "release"])("H90: %s: the next call runs", async (act) => {
    const key = await holdKey(world);

    expect((await actOn(key, act)).done).toBe(true);

    expect(await ran(key)).toBe("ran");
  });

  it("needs a name, a reason and an answer in JSON, and stays held without them", async () => {
    const key = await holdKey(world);

    await expect(actOn(key, "happened", { answer: "1", by: " " })).rejects.toThrow("enter your name");
    await expect(actOn(key, "happened", { answer: "{" })).rejects.toThrow("the answer must be JSON");
    await expect(actOn(key, "happened", { status: "2xx" })).rejects.toThrow("must be from 100 to 599");
    await expect(actOn(key, "explode")).rejects.toThrow("isn't available for a key");
    await expect(actOn(key, "happened", { answer: "1", why: "x".repeat(257) })).rejects.toThrow("256");
    await expect(source.act({ act: "release", key: "never seen", ...SAID })).rejects.toThrow("looked up");

    expect((await lifeOf(key)).state).toBe("held");
  });
});

describe("an HTTP key on the page", () => {
  async function heldHttp() {
    const key = randomUUID();
    const handler = httpIdempotent(
      () => {
        throw new OutcomeUnknownError();
      },
      {
        ...{ operation: "pay", store: world.store, clock: world.clock, scope: "public" },
        ...{ leaseSeconds: 30, renewLease: false, whenAbandoned: "hold" },
      },
    );
    const event = {
      ...{ version: "2.0", rawPath: "/pay", body: "{}", headers: { "idempotency-key": key } },
      requestContext: { http: { method: "POST" } },
    };
    const call = () => handler(event as never, {} as never) as Promise<unknown>;
    await call();
    await world.clock.advance(1000);
    const { records } = await source.look();
    const hash = records.find(({ operation }) => operation === "pay")!.keyHash;
    return { hash, call };
  }

  it("H90: an unreadable answer is refused with an example, and a whole response is accepted", async () => {
    const { hash, call } = await heldHttp();
    const act = (more: object) => source.act({ act: "happened", key: hash, ...SAID, ...more });

    expect((await source.lifeOf(hash))!.isHttp).toBe(true);
    await expect(act({ answer: '{"charge":"ch_1"}' })).rejects.toThrow('a body such as {"id":"ch_1"}');
    expect(await call()).toMatchObject({ statusCode: 409 });
    expect((await act({ status: "201", body: '{"id":"ch_1"}' })).done).toBe(true);

    expect(await call()).toMatchObject({ statusCode: 201, body: '{"id":"ch_1"}' });
  });
});

describe("an open step on the page", () => {
  async function heldStep(operation: string) {
    const key = randomUUID();
    const run = (charge: () => string) =>
      runOnce(
        holding(world, operation),
        key,
        {},
        async ({ step }) => `charged ${await step("charge", charge, { atMostOnce: true })}`,
      );
    const failed = run(() => {
      throw new OutcomeUnknownError();
    });
    await failed.catch(() => undefined);
    return { key, run };
  }

  it("H90: happened: the next call goes on after it", async () => {
    const { key, run } = await heldStep("step-happened");
    const life = await lifeOf(key, "step-happened");

    expect(life).toMatchObject({ openSteps: ["charge"], choices: ["happened"] });
    await expect(actOn(key, "did-not-happen", {}, "step-happened")).rejects.toThrow(
      "steps that have started",
    );
    expect(await actOn(key, "release", {}, "step-happened")).toEqual({
      done: false,
      message: "Nothing was changed: the outcome of step charge is unknown: decide about it first.",
    });
    expect((await actOn(key, "happened", { step: "charge", answer: '"ch_1"' }, "step-happened")).done).toBe(
      true,
    );

    expect(await run(() => "ch_2")).toBe("charged ch_1");
  });

  it("H90: did not happen: the next call runs it", async () => {
    const { key, run } = await heldStep("step-did-not");

    await actOn(key, "did-not-happen", { step: "charge" }, "step-did-not");

    expect(await run(() => "ch_2")).toBe("charged ch_2");
  });
});

describe("a decided key on the page", () => {
  it("H90: is corrected on purpose only", async () => {
    const key = await holdKey(world);
    await actOn(key, "happened", { answer: '"ch_2"' });

    expect((await lifeOf(key)).choices).toEqual(["correct", "rerun", "erase"]);
    const refused = await actOn(key, "happened", { answer: '"ch_1"' });
    const corrected = await actOn(key, "happened", { answer: '"ch_1"', correct: "yes" });

    expect(refused).toEqual({
      done: false,
      message: "Nothing was changed: the key is completed, decided by ana.",
    });
    expect(corrected.done).toBe(true);
    expect(await ran(key)).toBe("ch_1");
  });
});

describe("a finished key on the page", () => {
  it("H90: runs again after a final error", async () => {
    const key = randomUUID();
    const declined = () => Promise.reject(new PermanentError("declined"));
    await runOnce(holding(world, "charge"), key, {}, declined).catch(() => {});

    expect((await lifeOf(key)).choices).toEqual(["rerun", "erase"]);
    expect((await actOn(key, "rerun")).message).toBe("The next call runs the handler again.");

    expect(await ran(key)).toBe("ran");
  });

  it("can't run again while it's held or running", async () => {
    const key = await holdKey(world);

    expect((await actOn(key, "rerun")).message).toContain("Nothing was changed: the key is held");
  });
});

describe("a key in progress on the page", () => {
  it("H90: its lease is ended on purpose only", async () => {
    const key = randomUUID();
    void runOnce(
      { ...holding(world, "slow"), leaseSeconds: 3600 },
      key,
      {},
      () => new Promise<never>(() => {}),
    );
    const found = () => source.find({ operation: "slow", scope: "", key });
    await expect.poll(found).not.toHaveProperty("isAbsent");

    expect((await lifeOf(key, "slow")).choices).toEqual(["interrupt"]);
    expect((await actOn(key, "release", {}, "slow")).message).toContain("the key is in-progress");
    expect((await actOn(key, "release", { interrupt: "yes" }, "slow")).done).toBe(true);

    expect(await ran(key, "slow")).toBe("ran");
  });
});

describe("a key in progress with an open step on the page", () => {
  it("R8: isn't ended, and the page has the end of its lease", async () => {
    const key = randomUUID();
    void runOnce({ ...holding(world, "slow"), leaseSeconds: 3600 }, key, {}, ({ step }) =>
      step("card", () => new Promise<never>(() => {}), { atMostOnce: true }),
    );
    const openSteps = async () => {
      await source.find({ operation: "slow", scope: "", key });
      return (await source.lifeOf(identify("slow", "", key).keyHash))?.openSteps;
    };
    await expect.poll(openSteps).toEqual(["card"]);

    const life = await lifeOf(key, "slow");
    const answer = await actOn(key, "release", { interrupt: "yes" }, "slow");

    expect(life).toMatchObject({ choices: [], leaseEndsAt: expect.any(Number) });
    expect(answer.done).toBe(false);
    expect(answer.message).toMatch(/^Nothing was changed: step card was begun, .* its lease ends 2/);
  });
});

describe("an erasure on the page", () => {
  const forgotten = { code: "RESULT_NOT_KEPT" };

  it("H90: of one key: needs the operation's name typed, and drops the answer", async () => {
    const key = randomUUID();
    await ran(key);

    for (const more of [{}, { typed: "chrge" }])
      await expect(actOn(key, "erase", more)).rejects.toThrow("type charge to confirm");
    expect(await ran(key)).toBe("ran");
    expect(await actOn(key, "erase", { typed: "charge" })).toEqual({ done: true, message: "Erased." });

    await expect(ran(key)).rejects.toMatchObject(forgotten);
  });

  it("H90: of an owner: erases what was listed and nothing newer, and says what stays", async () => {
    const scope = `acme-${randomUUID()}`;
    const call = (key: string, outcome: () => unknown) =>
      runOnce({ ...holding(world, "order"), scope }, key, {}, outcome).catch(() => undefined);
    const held = () => Promise.reject(new OutcomeUnknownError());
    await call("done", () => "done");
    await call("held", held);
    const asked = { scope, operation: "" };
    const erase = (owned: string, typed = scope) => source.act({ act: "erase", owned, typed, ...SAID });

    const cost = await source.owned({ ...asked, scan: false });
    const look = await source.owned({ ...asked, scan: true });
    await call("later", () => "later");
    if (!("id" in look)) throw new Error("no list");

    expect(cost).toEqual({ cost: expect.stringMatching(/^a scan reads the whole table: about \d+ items/) });
    expect(look).toMatchObject({ typed: scope, keys: [{ operation: "order" }, { operation: "order" }] });
    await expect(erase(look.id, "acme")).rejects.toThrow(`type ${scope} to confirm`);
    await expect(erase("another")).rejects.toThrow("look for the keys again");
    expect(await erase(look.id)).toEqual({
      done: true,
      message: expect.stringMatching(
        /^Erased the answers of 1 of 2 keys\. order#\S+: not erased: the key is held: settle it first/,
      ),
    });
    expect(await call("later", () => expect.unreachable())).toBe("later");
    await expect(source.owned({ scope: "", operation: "", scan: true })).rejects.toThrow("enter the owner");
  });
});

describe("an unsent message on the page", () => {
  const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/q";

  async function committed(message: object) {
    const key = randomUUID();
    const messages = [{ key, body: { amount: -1 }, ...message }] as never;
    await runOnce(holding(world, "sends"), key, {}, ({ commit }) => commit(1, { messages }));
    const act = (name: string, more: object = {}) =>
      actOn(key, name, { message: "0", ...more }, "sends").catch((error: Error) => error.message);
    const stored = async () => (await world.outbox.load(identify("sends", "", key).recordKey))?.messages[0];
    return { key, act, stored };
  }

  it("H90: is edited with the checks of `outbox edit`, and the key can't be erased meanwhile", async () => {
    const { key, act, stored } = await committed({
      ...{ bus: "orders", source: "shop", detailType: "paid" },
    });

    expect(await lifeOf(key, "sends")).toMatchObject({
      choices: [],
      messages: [{ place: 0, destination: "bus:orders", state: "waiting" }],
    });
    expect(await act("edit", { body: "{n" })).toBe("the body of an event must be a JSON object");
    expect(await act("edit", { body: "7" })).toContain("body");
    expect(await act("edit", { body: '{"amount":1}' })).toMatchObject({ done: true });

    expect(await stored()).toMatchObject({ body: '{"amount":1}' });
    expect((await stored())!.key).not.toBe(key);
  });

  it("H90: is redirected with the checks of `outbox redirect`, or dropped, once", async () => {
    const { act, stored } = await committed({ queue: QUEUE });

    expect(await act("explode")).toContain("isn't available for a message");
    expect(await act("redirect", { kind: "queue", address: "" })).toBe("enter the new destination");
    expect(await act("redirect", { kind: "topic", address: `${QUEUE}.fifo` })).toContain("topic");
    expect(await act("redirect", { kind: "queue", address: `${QUEUE}2`, "message-group": "" })).toEqual({
      done: true,
      message: "Message 0 redirected.",
    });
    expect(await stored()).toMatchObject({ queue: `${QUEUE}2` });
    expect(await act("retry")).toMatchObject({ done: true });
    expect(await act("drop")).toMatchObject({ done: true, message: "Message 0 dropped." });
    expect(await act("drop")).toEqual({
      done: false,
      message: "Nothing was changed: this record has no unsent messages.",
    });
  });
});

describe("child keys on the page", () => {
  it("H90: are those that the handler passed on: of its steps, and of any other name", async () => {
    const key = randomUUID();
    const passed: string[] = [];
    await runOnce(holding(world, "charge"), key, {}, async ({ childKey, step }) => {
      passed.push(childKey("reserve"), childKey("pay"), childKey("pay", { maxLength: 36, format: "hex" }));
      await step("reserve", () => 1);
      throw new OutcomeUnknownError();
    }).catch(() => {});
    const hash = await hashOf(key);

    expect((await source.lifeOf(hash))!.childKeys).toEqual({ reserve: passed[0] });
    expect(source.childKeyOf(hash, "pay", {})).toBe(passed[1]);
    expect(source.childKeyOf(hash, "pay", { maxLength: 36, format: "hex" })).toBe(passed[2]);
    expect(source.childKeyOf("never seen", "pay", {})).toBeUndefined();
    expect(() => source.childKeyOf(hash, "pay", { maxLength: 8 })).toThrow("at least 22");
  });
});

it("H90: the child keys of a saga are those that its steps passed on", async () => {
  const key = randomUUID();
  const passed: string[] = [];
  const place = saga<object>("place", [
    {
      name: "charge",
      run: ({ childKey }) => passed.push(childKey()),
      compensate: ({ childKey, stepKey }) => {
        expect(stepKey()).toBe(passed[0]);
        passed.push(childKey());
        throw new Error("the provider is down");
      },
    },
    { name: "ship", run: () => Promise.reject(new PermanentError("sold out")), compensate: () => undefined },
  ]);
  await runOnce(holding(world, "saga"), key, {}, (execution) => place.run(execution, {})).catch(() => {});

  const { childKeys, openSteps } = await lifeOf(key, "saga");

  expect(openSteps).toEqual(["place/charge/compensate"]);
  expect([childKeys["place/charge"], childKeys["place/charge/compensate"]]).toEqual(passed);
});

describe("a group of keys on the page", () => {
  async function group(operation: string) {
    const keys = [await holdKey(world, operation), await holdKey(world, operation)];
    await world.clock.advance(1000);
    const { groups } = await source.look();
    return { keys, group: groups.find((each) => each.operation === operation)! };
  }

  it("H90: happened, with one answer for all of them", async () => {
    const { keys, group: found } = await group("all-happened");

    const answer = await source.act({ act: "happened", group: found.id, answer: "null", ...SAID });

    expect(answer.message).toBe("Recorded that the effect happened for 2 of 2 keys.");
    for (const key of keys) expect(await ran(key, "all-happened")).toBeNull();
  });

  it("H90: only the keys that the person has seen are changed", async () => {
    const { keys, group: found } = await group("one-seen");
    const [seen] = found.members.map(({ keyHash }) => keyHash);

    const answer = await source.act({ act: "did-not-happen", group: found.id, keys: [seen], ...SAID });

    expect(answer.message).toBe("Retries may now run for 1 of 1 keys.");
    const states = await Promise.all(keys.map(async (key) => (await lifeOf(key, "one-seen")).state));
    expect(states.toSorted()).toEqual(["held", "released"]);
  });
});

describe("the time axis of a key", () => {
  it("has attempts, the lease, steps and decisions, at the times of the record", async () => {
    const key = randomUUID();
    const start = world.clock.now();
    await runOnce(holding(world, "axis"), key, {}, async ({ step }) => {
      await world.clock.advance(1000);
      await step("reserve", () => 1);
      throw new OutcomeUnknownError();
    }).catch(() => {});
    const held = await lifeOf(key, "axis");
    await world.clock.advance(60_000);
    await actOn(key, "happened", { answer: "1" }, "axis");

    const after = ({ marks }: typeof held) =>
      marks.map(({ lane, label, from, to }) => [lane, label, from - start, to && to - start]);
    expect(after(held)).toEqual([
      ["attempt", "attempt 1", 0, 1000],
      ["step", "step reserve: done", 1000, undefined],
      ["decision", "unknown, by handler", 1000, undefined],
    ]);
    expect(after(await lifeOf(key, "axis"))).toEqual([
      ["attempt", "attempt 1", 0, 0],
      ["decision", "happened, by ana", 61_000, undefined],
      ["attempt", "completed", 61_000, undefined],
    ]);
  });

  it("H90: leaves out what has no time: an attempt that released its key, and whose key was then forked", async () => {
    const key = randomUUID();
    const start = world.clock.now();
    await runOnce(holding(world, "axis"), key, {}, async ({ step }) => {
      await step("reserve", () => 1);
      await world.clock.advance(1);
      await step("quote", () => 2);
      await world.clock.advance(1);
      throw new Error("no such price");
    }).catch(() => {});

    await actOn(key, "fork", { from: "quote", as: randomUUID() }, "axis");

    const { marks, tree } = await lifeOf(key, "axis");
    expect(marks.map(({ lane, label, from }) => [lane, label, from - start])).toEqual([
      ["attempt", "attempt 1", 0],
      ["step", "step reserve: done", 0],
      ["step", "step quote: done", 1],
      ["decision", "forked, by ana", 2],
      ["attempt", "failed", 2],
    ]);
    expect(JSON.stringify(tree)).toContain("forked by ana");
  });

  it("has the lease of an abandoned attempt, and messages that wait", async () => {
    const key = randomUUID();
    const start = world.clock.now();
    void runOnce(holding(world, "dead"), key, {}, () => new Promise<never>(() => {}));
    const found = () => source.find({ operation: "dead", scope: "", key });
    await expect.poll(found).not.toHaveProperty("isAbsent");
    await world.clock.advance(120_000);
    const sent = randomUUID();
    const message = { queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/q", key: sent, body: {} };
    await runOnce(holding(world, "sends"), sent, {}, ({ commit }) => commit(1, { messages: [message] }));

    const dead = await lifeOf(key, "dead");
    const { marks } = await lifeOf(sent, "sends");

    expect(dead).toMatchObject({ state: "abandoned", choices: ["happened", "did-not-happen", "release"] });
    expect(dead.marks).toEqual([
      { lane: "attempt", label: "attempt 1", from: start, to: start },
      { lane: "lease", label: "lease of attempt 1", from: start, to: expect.any(Number) },
    ]);
    expect(marks.map(({ lane, label }) => [lane, label])).toEqual([
      ["attempt", "attempt 1"],
      ["attempt", "completed"],
      ["message", expect.stringMatching(/^message 0 to .*waiting$/)],
    ]);
  });
});
