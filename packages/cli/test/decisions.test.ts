// What an operator can do from what the commands print: by the record key, with an answer that callers can read, and once more.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { OutcomeUnknownError, PermanentError } from "../../../lib/core/errors.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { httpIdempotent } from "../../../lib/lambda/http/http.ts";
import { BY, holding, holdKey } from "./held-given.ts";
import { newWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});

const ran = (key: string) => runOnce(holding(world, "charge"), key, {}, () => "ran");

/** The record key as the lists print it. */
async function printedKey(operation: string): Promise<string> {
  await world.clock.advance(1000);
  const { text } = await world.run("list", ["unknown"]);
  return new RegExp(`${operation}#\\S*`).exec(text.split("\n").reverse().join("\n"))![0];
}

describe("a record key, as the lists print it", () => {
  it("H90: finds, settles, erases and traces the key", async () => {
    world = await newWorld();
    const key = await holdKey(world);
    const recordKey = await printedKey("charge");

    expect((await world.run("find", [recordKey])).text).toContain(`${recordKey}\nheld, attempt 1`);
    const resolved = await world.run("resolve", [recordKey, "--happened", '"ch_1"', ...BY, "--yes"]);
    expect(resolved).toMatchObject({ status: 0, text: "resolved" });
    expect(await ran(key)).toBe("ch_1");
    expect((await world.run("trace", [recordKey])).text).toContain("completed");
    expect(await world.run("erase", [recordKey, ...BY, "--yes"])).toMatchObject({
      status: 0,
      text: "erased",
    });
  });

  it("H90: releases the key", async () => {
    world = await newWorld();
    const key = await holdKey(world);

    const released = await world.run("release", [await printedKey("charge"), ...BY, "--yes"]);

    expect(released).toMatchObject({ status: 0, text: "released" });
    expect(await ran(key)).toBe("ran");
  });

  it.each([
    [["order-1"], "--operation is required with an idempotency key"],
    [["charge##mCjn…"], "pass a whole record key"],
    [[`charge##${"x".repeat(43)}`, "-s", "acme"], "a record key contains its scope: leave out --scope"],
  ])("refuses %j before any request", async (args, message) => {
    await expect(world.run("find", args)).rejects.toThrow(message);
  });

  it("says how to use it, if it comes with an operation", async () => {
    const recordKey = `charge##${"x".repeat(43)}`;

    const named = await world.run("find", [recordKey, "-o", "charge"]);
    const alone = await world.run("find", [recordKey]);

    expect(named).toMatchObject({
      status: 1,
      text: expect.stringContaining("leave out --operation and --scope"),
    });
    expect(alone).toMatchObject({ status: 1, text: expect.stringContaining("none under this record key") });
  });
});

describe("onceonly find --child", () => {
  it("H90: prints the keys that the handler passed on, as it made them", async () => {
    const key = randomUUID();
    const passed: string[] = [];
    await runOnce(holding(world, "charge"), key, {}, async ({ childKey, step }) => {
      passed.push(
        childKey("charge"),
        childKey("charge", { maxLength: 36, format: "hex" }),
        childKey("reserve"),
      );
      await step("reserve", () => 1);
      throw new OutcomeUnknownError();
    }).catch(() => {});
    const recordKey = await printedKey("charge");
    const find = (...args: string[]) => world.run("find", [recordKey, ...args]);

    expect((await find("--child", "charge")).text).toContain(`\nchild key charge: ${passed[0]}`);
    const limited = await find("--child", "charge", "--child-length", "36", "--child-hex");
    expect(limited.text).toContain(`\nchild key charge: ${passed[1]}`);
    expect((await find()).text).toContain(`\nchild key reserve: ${passed[2]}`);
    expect(JSON.parse((await find("--child", "charge", "--json")).text)).toMatchObject({
      childKeys: { charge: passed[0] },
    });
  });

  it("refuses limits that no child key can have", async () => {
    const args = ["k", "-o", "charge", "--child", "charge", "--child-length", "8"];
    await expect(world.run("find", args)).rejects.toThrow("must be a number of at least 22");
  });
});

describe("the answer of an HTTP operation", () => {
  async function heldHttp() {
    world = await newWorld();
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
    expect(await call()).toMatchObject({ statusCode: 409 });
    return { call, recordKey: await printedKey("pay") };
  }

  it("H90: is refused if its callers couldn't read it, with an example, and nothing is changed", async () => {
    const { call, recordKey } = await heldHttp();

    const bad = world.run("resolve", [recordKey, "--happened", '{"charge":"ch_1"}', ...BY, "--yes"]);

    await expect(bad).rejects.toThrow(
      `callers need a whole response: pass --status 201 --body '{"id":"ch_1"}'`,
    );
    expect(await call()).toMatchObject({ statusCode: 409 });
  });

  it("H90: is given by its parts", async () => {
    const { call, recordKey } = await heldHttp();
    const parts = ["--status", "201", "--body", '{"id":"ch_1"}', "--header", "Location: /charges/ch_1"];

    const asked = await world.run("resolve", [recordKey, ...parts, ...BY], true);

    expect(asked.text).toContain('every caller will get: {"statusCode":201,');
    expect(await call()).toMatchObject({
      statusCode: 201,
      headers: {
        "content-type": "application/json",
        location: "/charges/ch_1",
        "Idempotent-Replayed": "true",
      },
      body: '{"id":"ch_1"}',
    });
  });

  it("is given as text, and without a body", async () => {
    for (const [parts, body] of [
      [["--status", "204"], ""],
      [["--status", "200", "--body", "paid"], "paid"],
      [["--status", "200", "--body", "[paid"], "[paid"],
    ] as const) {
      const { call, recordKey } = await heldHttp();
      await world.run("resolve", [recordKey, ...parts, ...BY, "--yes"]);
      expect(await call()).toMatchObject({
        body,
        headers: expect.not.objectContaining({ "content-type": expect.anything() }),
      });
    }
  });

  it.each([
    [["--status", "99"], "--status must be from 100 to 599"],
    [["--body", "x"], "--body and --header need --status"],
    [["--status", "201", "--happened", "1"], "pass either --happened or --status"],
    [["--status", "201", "--header", "x"], '--header must be "name: value"'],
  ])("refuses %j", async (args, message) => {
    await expect(world.run("resolve", ["k", "-o", "charge", ...args, ...BY])).rejects.toThrow(message);
  });
});

describe("a decision that was wrong", () => {
  it("H90: is corrected on purpose only, and the record has both", async () => {
    const key = await holdKey(world);
    const resolve = (...args: string[]) => world.run("resolve", [key, "-o", "charge", ...args, "--yes"]);
    const ben = ["--by", "ben", "--why", "ch_1 on page 2"];
    await resolve("--happened", '"ch_2"', ...BY);

    const refused = await resolve("--happened", '"ch_1"', ...ben);
    const corrected = await resolve("--happened", '"ch_1"', "--even-though-answered", ...ben);

    expect(refused.status).toBe(1);
    expect(refused.text).toMatch(
      /^not resolved: the key is completed, decided by ana, .*--even-though-answered$/,
    );
    expect(corrected).toMatchObject({ status: 0, text: "resolved" });
    expect(await ran(key)).toBe("ch_1");
    const { text } = await world.run("find", [key, "-o", "charge", "--show-result"]);
    expect(text).toMatch(
      /verdict: happened, by ben, .*\n├ reason: ch_1 on page 2\n├ before that: happened, completed, by ana, .*: ticket 7\n/,
    );
    expect(text).toMatch(/"ch_1"\nbefore the correction: "ch_2"$/);
    const unshown = await world.run("find", [key, "-o", "charge", "--json"]);
    expect(unshown.text).not.toContain("ch_2");
    expect(JSON.parse(unshown.text)).toMatchObject({ past: [{ by: "ana" }] });
  });

  it("H90: warns that callers may have the former answer", async () => {
    const key = await holdKey(world);
    await world.run("resolve", [key, "-o", "charge", "--happened", "1", ...BY, "--yes"]);

    const args = [key, "-o", "charge", "--did-not-happen", "--even-though-answered", ...BY];
    const asked = await world.run("resolve", args, true);

    expect(asked.text).toContain("\ncallers may already have received the former answer\n");
    expect(await ran(key)).toBe("ran");
  });

  it("H90: can't be one of the handler's, which `rerun` lets run again", async () => {
    const key = randomUUID();
    await ran(key);

    const args = [key, "-o", "charge", "--happened", "1", "--even-though-answered", ...BY, "--yes"];

    expect(await world.run("resolve", args)).toMatchObject({
      status: 1,
      text: "not resolved: the key is completed by its handler: to run it again, use `rerun`",
    });
  });
});

describe("onceonly rerun", () => {
  it("H90: lets a key run again that ended with a final error, and keeps the error", async () => {
    const key = randomUUID();
    const declined = () => Promise.reject(new PermanentError("declined"));
    await runOnce(holding(world, "charge"), key, {}, declined).catch(() => {});

    const asked = await world.run("rerun", [key, "-o", "charge", ...BY], true);

    expect(asked.status).toBe(0);
    expect(asked.asked).toEqual(["charge: let the next call run the handler again?"]);
    expect(asked.text).toMatch(/^charge##\S+\nfailed, attempt 1\n.*callers have received this result/s);
    const { text } = await world.run("find", [key, "-o", "charge", "--show-result"]);
    expect(text).toContain("run again by ana: ticket 7");
    expect(text).toMatch(/before that: failed, by handler, /);
    expect(text).toMatch(/before the correction: \{"name":.*declined/);
    expect(await ran(key)).toBe("ran");
  });

  it.each([
    ["a held key", () => holdKey(world), "not changed: the key is held: use `resolve`"],
    ["no record", async () => "none", "not changed: no record"],
  ])("leaves %s as it is", async (_, made, message) => {
    const answer = await world.run("rerun", [await made(), "-o", "charge", ...BY, "--yes"]);

    expect(answer).toMatchObject({ status: 1, text: expect.stringContaining(message) });
  });
});
