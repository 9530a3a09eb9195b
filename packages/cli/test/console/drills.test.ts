// Incidents brought to an end on the page of the console: by the keyboard alone, on a phone and on a desk, with axe looking on.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import type { Browser, Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../lib/core/clock.ts";
import { OutcomeUnknownError, PermanentError } from "../../../../lib/core/errors.ts";
import { identify } from "../../../../lib/core/identity.ts";
import { runOnce } from "../../../../lib/core/run-once.ts";
import { httpIdempotent } from "../../../../lib/lambda/http/http.ts";
import { outboxSweeper } from "../../../../lib/messaging/outbox-sweeper.ts";
import { saga } from "../../../../lib/saga/saga.ts";
import { chromiumProgram, launchChromium, NO_CHROMIUM } from "../../../../test/kit/chromium.ts";
import { root } from "../../../../test/kit/project.ts";
import { run } from "../../../../test/kit/run.ts";
import { startConsole } from "../../lib/console/console-server.ts";
import { tableSource } from "../../lib/console/table-source.ts";
import { openTable } from "../../lib/table.ts";
import { holding } from "../held-given.ts";
import { startQueues } from "../queue-given.ts";
import { newWorld, type World } from "../world.ts";
import { findingsOf } from "./axe.ts";

const hasChromium = chromiumProgram() !== undefined;
if (!hasChromium) console.warn(NO_CHROMIUM);

/** What's pressed to do something: commands of the command line, in a browser. */
const MOST_PRESSES = 5;
/** What the page asks its server. A look at a table is many small queries. */
const MOST_REQUESTS = 20;
const MOST_TABS = 60;
const HEIGHT = 640;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A person who has no mouse. */
class Operator {
  readonly page: Page;
  presses = 0;
  requests = 0;
  #unanswered = 0;

  constructor(page: Page) {
    this.page = page;
    page.on("request", () => {
      this.requests++;
      this.#unanswered++;
    });
    page.on("requestfinished", () => this.#unanswered--);
    page.on("requestfailed", () => this.#unanswered--);
  }

  /** Goes to what is labelled so, by Tab, or back by Shift and Tab. */
  async goTo(name: RegExp, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
    const passed: string[] = [];
    for (let tabs = 0; tabs < MOST_TABS; tabs++) {
      const focused = await this.page.evaluate(() => {
        const element = document.activeElement as HTMLInputElement | null;
        return (element?.labels?.[0] ?? element)?.textContent?.trim() ?? "";
      });
      if (tabs > 0 && name.test(focused)) return;
      passed.push(focused.slice(0, 40));
      await this.page.keyboard.press(key);
    }
    throw new Error(`${name} isn't reached by ${key}: ${passed.join(" | ")}`);
  }

  async press(name: RegExp, key?: "Tab" | "Shift+Tab"): Promise<void> {
    await this.goTo(name, key);
    this.presses++;
    await this.page.keyboard.press("Enter");
  }

  async fill(name: RegExp, text: string): Promise<void> {
    await this.goTo(name);
    await this.page.keyboard.press("ControlOrMeta+a");
    await this.page.keyboard.type(text);
  }

  /** The first row of the list, on a fresh page. */
  async openFirst(): Promise<void> {
    await this.page.locator("tbody button.key").first().waitFor();
    await this.page.keyboard.press("ArrowDown");
    this.presses++;
    await this.page.keyboard.press("Enter");
    await this.page.getByRole("article").waitFor();
  }

  async signAndPress(why: string, confirm: RegExp): Promise<void> {
    await this.fill(/^Your name/, "ana");
    await this.fill(/^Reason/, why);
    await this.press(confirm);
  }

  async reported(text: string): Promise<void> {
    await this.page.locator("#outcome, [role=alert]").first().waitFor();
    await expect
      .poll(() => this.page.locator("#outcome, [role=alert]").allTextContents())
      .toEqual([expect.stringContaining(text)]);
  }

  /** Looks a key up in the form, which `/` leads to. */
  async find(named: { readonly operation?: string; readonly scope?: string; readonly key: string }) {
    const { operation = "", scope = "", key } = named;
    await this.page.keyboard.press("/");
    await this.page.keyboard.type(operation);
    await this.fill(/^Scope/, scope);
    await this.fill(/^Key/, key);
    this.presses++;
    await this.page.keyboard.press("Enter");
  }

  async findAndOpen(named: Parameters<Operator["find"]>[0]) {
    await this.find(named);
    await this.page.getByRole("article").waitFor();
  }

  async openParked(button: RegExp): Promise<void> {
    await this.page.locator(".card.parked").waitFor();
    await this.press(button);
    await this.page.getByRole("article").waitFor();
  }

  /** Resolves when the page has shown the answers to what it has asked. */
  async settled(): Promise<void> {
    for (const request of ["look", "life"]) {
      // What an answer changes is rendered, and effects of that ask for more.
      await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
      await expect.poll(() => this.#unanswered, { message: request }).toBe(0);
    }
  }

  /** An incident is over within these limits, and the page has shown what became of it. */
  async end(): Promise<void> {
    await this.settled();
    expect(this.presses).toBeLessThanOrEqual(MOST_PRESSES);
    expect(this.requests).toBeLessThanOrEqual(MOST_REQUESTS);
  }

  /** The page's looks get no answer until the returned function is called, which ends when the page has shown them. */
  async holdLooks(): Promise<() => Promise<void>> {
    const held: Promise<void>[] = [];
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await this.page.route("**/api/look", (route) => {
      const passed = isReleased.then(() => route.continue());
      held.push(passed);
      return passed;
    });
    return async () => {
      release();
      await Promise.all(held);
      await this.settled();
    };
  }

  async childKey(name: string): Promise<string> {
    await this.press(/^Child keys/);
    await this.fill(/^Name in childKey/, name);
    this.presses++;
    await this.page.keyboard.press("Enter");
    return `${await this.page.locator(".child-keys dd").first().textContent()}`;
  }
}

describe.runIf(hasChromium).each([360, 1280])("the console page, %s pixels wide", (width) => {
  let browser: Browser;
  let queues: Awaited<ReturnType<typeof startQueues>>;
  let world: World;
  /** What another system has charged, by the child key. */
  let charges: Map<string, string>;
  let url: string;
  beforeAll(async () => {
    await run(process.execPath, ["tools/build-console.mjs"], root);
    [browser, queues] = await Promise.all([launchChromium(), startQueues()]);
    return () => Promise.all([browser.close(), queues.stop()]);
  });
  beforeEach(async () => {
    charges = new Map();
    world = await newWorld();
    const { tableName: name, endpoint } = world;
    const table = await openTable({ table: name, endpoint });
    cleanups.push(() => table.close());
    // A request that fails is repeated after a pause, which no test ends.
    const clock = { ...systemClock, now: () => world.clock.now() };
    const served = await startConsole({
      source: tableSource({ table, name, clock }),
      port: 0,
      mayWrite: true,
    });
    cleanups.push(() => served.stop());
    url = served.url;
  });

  const charge = (key: string) => {
    const known = charges.get(key) ?? `ch_${charges.size + 1}`;
    charges.set(key, known);
    return known;
  };

  async function operator(): Promise<Operator> {
    await world.clock.advance(120_000);
    const context = await browser.newContext({ viewport: { width, height: HEIGHT } });
    cleanups.push(() => context.close());
    const page = await context.newPage();
    page.on("pageerror", (error) => expect.fail(error.message));
    await page.goto(url);
    await page.getByRole("heading", { name: "Records" }).waitFor();
    return new Operator(page);
  }

  const charging = (key: string, fails: () => unknown = () => undefined) =>
    runOnce(holding(world, "charge"), key, {}, ({ childKey }) => {
      fails();
      return charge(childKey("charge"));
    });
  const unanswered = () => {
    throw new OutcomeUnknownError();
  };

  async function isInView(page: Page, name: string): Promise<boolean> {
    const box = await page.getByRole("button", { name }).first().boundingBox();
    return box !== null && box.y >= 0 && box.y + box.height <= HEIGHT && box.x + box.width <= width;
  }

  it("H90: a held charge that happened: every caller gets the answer, and it's charged once", async () => {
    const event = {
      ...{ version: "2.0", rawPath: "/pay", body: "{}", headers: { "idempotency-key": randomUUID() } },
      requestContext: { http: { method: "POST" } },
    };
    const pay = httpIdempotent(
      (_event: unknown, { idempotency }) => {
        charge(idempotency.childKey("charge"));
        return unanswered();
      },
      { ...holding(world, "pay"), scope: "public" },
    );
    const call = () => pay(event as never, {} as never) as Promise<unknown>;
    expect(await call()).toMatchObject({ statusCode: 409 });

    const ana = await operator();
    await ana.openFirst();
    expect(charges.get(await ana.childKey("charge"))).toBe("ch_1");
    await ana.press(/^It happened for the key/, "Shift+Tab");
    const form = await ana.page.getByRole("form").textContent();
    await ana.fill(/^Status/, "201");
    await ana.fill(/^Body/, '{"id":"ch_1"}');
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.signAndPress("ch_1 in the dashboard", /^Record: it happened/);
    await ana.reported("every caller gets this answer");

    expect(form).toMatch(/this key is held, first claimed 2 min ago, attempt 1/);
    expect(form).toMatch(/its own writes and messages in `commit` aren't made/);
    expect(await call()).toMatchObject({ statusCode: 201, body: '{"id":"ch_1"}' });
    expect(charges.size).toBe(1);
    await ana.end();
  });

  it("H90: a held charge that didn't happen: a retry charges once", async () => {
    const key = randomUUID();
    await charging(key, unanswered).catch(() => undefined);

    const ana = await operator();
    await ana.openFirst();
    expect(await isInView(ana.page, "It happened")).toBe(true);
    expect(await isInView(ana.page, "It did not happen")).toBe(true);
    await ana.press(/^It did not happen for the key/);
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.page.keyboard.press("Escape");
    const focused = await ana.page.evaluate(() => document.activeElement?.textContent);
    expect(focused).toBe("It did not happen for the key");
    ana.presses++;
    await ana.page.keyboard.press("Enter");
    await ana.signAndPress("no charge in the dashboard", /^Record: it did not happen/);
    await ana.reported("the next call runs");

    expect(await charging(key)).toBe("ch_1");
    expect(charges.size).toBe(1);
    await ana.end();
  });

  it("H90: a wrong decision: corrected after a warning, and charged once", async () => {
    const key = randomUUID();
    await charging(key, unanswered).catch(() => undefined);
    const ana = await operator();
    await ana.openFirst();
    await ana.press(/^It happened for the key/);
    await ana.fill(/^Answer \(JSON/, '"ch_9"');
    await ana.signAndPress("ch_9 in the dashboard", /^Record: it happened/);
    await ana.reported("every caller gets this answer");
    expect(await charging(key)).toBe("ch_9");

    await ana.press(/^Correct: it did not happen/);
    const form = await ana.page.getByRole("form").textContent();
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.signAndPress("ch_9 was another order", /^Record: it did not happen/);
    await ana.reported("the next call runs");

    expect(form).toContain("callers may already have received the former answer");
    expect(await charging(key)).toBe("ch_1");
    expect(charges.size).toBe(1);
    await ana.end();
  });

  it("H90: a final error whose cause is gone: it's found by its key, and runs again", async () => {
    const key = randomUUID();
    const declined = () => {
      throw new PermanentError("declined");
    };
    await charging(key, declined).catch(() => undefined);
    await expect(charging(key)).rejects.toThrow();

    const ana = await operator();
    await ana.findAndOpen({ operation: "charge", key });
    expect(await isInView(ana.page, "Run again")).toBe(true);
    await ana.press(/^Run again for the key/);
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.signAndPress("the account exists now", /^Let it run again/);
    await ana.reported("The next call runs the handler again.");

    expect(await charging(key)).toBe("ch_1");
    await ana.end();
  });

  it("H90: a bad deployment: its key is forked from the wrong step, and each effect happens once", async () => {
    const key = randomUUID();
    const order = (of: string, quote: string) =>
      runOnce(holding(world, "order"), of, {}, async ({ step, childKey }) => {
        await step("reserve", () => charge(childKey("reserve")));
        await world.clock.advance(1);
        if ((await step("quote", () => quote)) === "NaN") throw new Error("no such price");
        return step("ship", () => charge(childKey("ship")));
      });
    await order(key, "NaN").catch(() => undefined);

    const ana = await operator();
    await ana.findAndOpen({ operation: "order", key });
    await ana.press(/^Fork for the key/);
    await ana.fill(/^First step that runs again/, "quote");
    await ana.fill(/^New idempotency key/, "repaired");
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.signAndPress("release 7 quoted wrongly", /^Fork to the new key/);
    await ana.reported("run order again with the same input and the key repaired");

    expect(await order("repaired", "7")).toBe("ch_2");
    await expect(order(key, "7")).rejects.toMatchObject({ name: "ForkedError" });
    expect(charges.size).toBe(2);
    await ana.end();
  });

  it("H90: a step whose outcome is unknown: decided by itself, and the rest of the handler runs", async () => {
    const key = randomUUID();
    const place = (act: () => string) =>
      runOnce(
        holding(world, "place"),
        key,
        {},
        async ({ step }) => `placed ${await step("charge", act, { atMostOnce: true })}`,
      );
    await place(unanswered as () => never).catch(() => undefined);

    const ana = await operator();
    await ana.openFirst();
    await ana.press(/^It happened for step charge/);
    await ana.fill(/^Result of the step/, '"ch_1"');
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.signAndPress("ch_1 in the dashboard", /^Record: the step happened/);
    await ana.reported("the next call continues after it");

    expect(await place(() => "ch_2")).toBe("placed ch_1");
    await ana.end();
  });

  it("H90: a saga that stopped in a compensation: done by hand, and the next call ends the saga", async () => {
    const key = randomUUID();
    const place = saga<object>("place", [
      {
        name: "charge",
        run: ({ childKey }) => charge(childKey()),
        compensate: () => Promise.reject(new Error("the provider is down")),
      },
      {
        name: "ship",
        run: () => Promise.reject(new PermanentError("sold out")),
        compensate: () => undefined,
      },
    ]);
    const call = () => runOnce(holding(world, "order"), key, {}, (execution) => place.run(execution, {}));
    await call().catch(() => undefined);

    const ana = await operator();
    await ana.openFirst();
    await ana.press(/^It happened for step place\/charge\/compensate/);
    await ana.fill(/^Result of the step/, "null");
    await ana.signAndPress("refunded by hand", /^Record: the step happened/);
    await ana.reported("the next call continues after it");

    await expect(call()).rejects.toMatchObject({ name: "SagaCompensatedError" });
    expect(charges.size).toBe(1);
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.end();
  });

  /** A commit whose messages were given up, and the button that opens its key. */
  async function parked(...to: readonly string[]): Promise<{ recordKey: string; button: RegExp }> {
    const key = randomUUID();
    const messages = to.map((queue, place) => ({ queue, key: `${key}/${place}`, body: { amount: -1 } }));
    await runOnce(holding(world, "order"), key, {}, ({ commit }) => commit("done", { messages }));
    const { recordKey, keyHash } = identify("order", "", key);
    const commit = (await world.outbox.load(recordKey))!;
    const progress = {
      state: "parked",
      tries: 50,
      at: world.clock.now(),
      code: "QueueDoesNotExist",
    } as const;
    await world.outbox.keep(
      commit,
      to.map(() => progress),
      world.clock.now(),
    );
    return { recordKey, button: RegExp(`^${keyHash.slice(0, 10)}`) };
  }

  async function sweep() {
    await world.clock.advance(120_000);
    const { outbox, clock } = world;
    return outboxSweeper({ outbox, clock, sqs: queues.client, destinations: "any" })();
  }

  async function received(QueueUrl: string): Promise<readonly (string | undefined)[]> {
    const asked = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 });
    const { Messages = [] } = await queues.client.send(asked);
    return Messages.map(({ Body }) => Body);
  }

  it("H90: a dead destination: its messages are sent again, once", async () => {
    const { queue } = await queues.newPair();
    await parked(queue);

    const ana = await operator();
    await ana.page.locator(".card.parked").waitFor();
    await ana.press(/^List and decide: 1 commit/);
    await ana.press(/^Send again: 1 commit/);
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.signAndPress("the queue is back", /^Send the messages of 1 commit again/);
    await ana.reported("Sending the messages of 1 commits again: 1.");

    expect(await sweep()).toMatchObject({ sent: 1, waiting: 0 });
    expect(await sweep()).toMatchObject({ sent: 0 });
    await ana.end();
  });

  it("H90: a parked poison message: shown on request, edited, and sent once under another key", async () => {
    const { queue } = await queues.newPair();
    const { recordKey, button } = await parked(queue);
    const [former] = (await world.outbox.load(recordKey))!.messages;

    const ana = await operator();
    await ana.openParked(button);
    expect((await ana.page.content()).includes('"amount"')).toBe(false);
    await ana.press(/^Show bodies/);
    await ana.page.getByText('{"amount":-1}').waitFor();
    await ana.press(/^Edit for message 0/);
    await ana.fill(/^Body/, '{"amount":1}');
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.signAndPress("the amount was negative", /^Send the edited message/);
    await ana.reported("Message 0 edited: the sweeper sends it within a minute.");

    const [edited] = (await world.outbox.load(recordKey))!.messages;
    expect(edited!.key).not.toBe(former!.key);
    await ana.page.getByRole("form").waitFor({ state: "detached" });
    expect((await ana.page.content()).includes('"amount"')).toBe(false);
    await sweep();
    expect(await received(queue)).toEqual(['{"amount":1}']);
    await ana.end();
  });

  it("H90: parked poison messages: one is redirected to a queue that accepts it, the other one dropped", async () => {
    const [old, other] = [await queues.newPair(), await queues.newPair()];
    const { button } = await parked(old.queue, old.queue);

    const ana = await operator();
    await ana.openParked(button);
    await ana.press(/^Redirect for message 0/);
    await ana.fill(/^Its URL/, other.queue);
    expect(await findingsOf(ana.page)).toEqual([]);
    const release = await ana.holdLooks();
    await ana.signAndPress("the queue was replaced", /^Send it there/);
    await ana.reported("Message 0 redirected.");
    await ana.press(/^Drop for message 1/);
    await release();
    expect(await ana.page.evaluate(() => document.activeElement?.closest("form")?.ariaLabel)).toBe(
      "Drop for message 1",
    );
    await ana.signAndPress("sent by hand", /^Drop it for good/);
    await ana.reported("Message 1 dropped.");

    await sweep();
    expect([await received(old.queue), await received(other.queue)]).toEqual([[], ['{"amount":-1}']]);
    await ana.end();
  });

  it("H90: a lease that outlives its crashed process: ended, and the effect happens once", async () => {
    const key = randomUUID();
    const long = { ...holding(world, "slow"), leaseSeconds: 3600 };
    await new Promise<void>((died) => {
      void runOnce(long, key, {}, () => {
        died();
        return new Promise<never>(() => {});
      });
    });
    const call = () => runOnce(long, key, {}, ({ childKey }) => charge(childKey("charge")));
    await expect(call()).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });

    const ana = await operator();
    await ana.findAndOpen({ operation: "slow", key });
    expect(await ana.page.getByRole("article").textContent()).toMatch(/lease ends .*in \d+ min/);
    expect(charges.get(await ana.childKey("charge"))).toBeUndefined();
    await ana.press(/^End the lease for the key/, "Shift+Tab");
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.signAndPress("its container was killed", /^End the lease$/);
    await ana.reported("Released: the next call runs.");

    expect(await call()).toBe("ch_1");
    expect(charges.size).toBe(1);
    await ana.end();
  });

  it("H90: a person wants to be forgotten: their answers go, their effects stay, and no other owner's answers go", async () => {
    const call = (scope: string, operation: string) =>
      runOnce({ ...holding(world, operation), scope }, "order-1", {}, ({ childKey }) =>
        charge(childKey("charge")),
      );
    for (const operation of ["order", "charge"]) await call("acme", operation);
    await call("umbrella", "order");

    const ana = await operator();
    await ana.fill(/^Owner/, "acme");
    ana.presses++;
    await ana.page.keyboard.press("Enter");
    await ana.page.getByText("a scan reads the whole table").waitFor();
    await ana.press(/^Scan the table/);
    const owner = ana.page.getByRole("region", { name: "A person wants to be forgotten" });
    await owner.getByRole("table").waitFor();
    const rows = await owner.getByRole("row").allTextContents();
    await ana.press(/^Erase: 2 keys/);
    await ana.fill(/^Type acme/, "acme");
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.signAndPress("request 12", /^Erase for good: 2 keys/);
    await ana.reported("Erased the answers of 2 of 2 keys.");

    expect(rows.slice(1).toSorted()).toEqual([
      expect.stringMatching(/^[\w-]{10}(charge|order)$/),
      expect.stringMatching(/^[\w-]{10}(charge|order)$/),
    ]);
    for (const operation of ["order", "charge"])
      await expect(call("acme", operation)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(await call("umbrella", "order")).toBe("ch_3");
    expect(charges.size).toBe(3);
    await ana.end();
  });

  it("H90: a client that makes a new key each time: seen by its records, and ended by a key from the payload", async () => {
    const order = { id: "order-7" };
    const pay = (key: string) =>
      runOnce(holding(world, "pay"), key, order, ({ childKey }) => charge(childKey("charge")));
    const made = [randomUUID(), randomUUID()];
    for (const key of made) await pay(key);
    expect(charges.size).toBe(2);

    const ana = await operator();
    for (const key of made) {
      const { recordKey, keyHash } = identify("pay", "", key);
      await ana.findAndOpen({ key: recordKey });
      const article = ana.page.getByRole("article").filter({ hasText: keyHash });
      expect(await article.textContent()).toContain("completed, attempt 1");
    }
    expect(await findingsOf(ana.page)).toEqual([]);

    for (let tries = 0; tries < 3; tries++) await pay(order.id);
    expect(charges.size).toBe(3);
    await ana.end();
  });

  it("H90: a restored table: the child key finds the effect, and the next call has it no second time", async () => {
    const key = randomUUID();
    const call = () =>
      runOnce({ ...holding(world, "charge"), scope: "acme" }, key, {}, ({ childKey }) =>
        charge(childKey("charge")),
      );
    await call();
    const pk = { S: identify("charge", "acme", key).recordKey };
    await world.client.send(new DeleteItemCommand({ TableName: world.tableName, Key: { pk } }));

    const ana = await operator();
    await ana.find({ operation: "charge", scope: "acme", key });
    await ana.page.getByText("No record: nothing ran").waitFor();
    expect(charges.get(await ana.childKey("charge"))).toBe("ch_1");
    expect(await findingsOf(ana.page)).toEqual([]);

    expect(await call()).toBe("ch_1");
    expect(charges.size).toBe(1);
    await ana.end();
  });

  it("H90: a group: its keys are listed before anything can be decided, and both outcomes are offered", async () => {
    const keys = [randomUUID(), randomUUID()];
    for (const key of keys) await charging(key, unanswered).catch(() => undefined);

    const ana = await operator();
    const group = ana.page.locator(".card.unknown");
    await group.waitFor();
    expect(await group.getByRole("button", { name: /happen/ }).count()).toBe(0);
    await ana.press(/^List and decide: 2 keys/);
    const rows = await group.getByRole("row").allTextContents();
    await ana.press(/^It happened: 2 keys/);
    await ana.fill(/^Answer \(JSON/, "null");
    expect(await findingsOf(ana.page)).toEqual([]);
    await ana.signAndPress("both in the dashboard", /^Record for 2 keys: it happened/);
    await ana.reported("Recorded that the effect happened for 2 of 2 keys.");

    expect(rows).toHaveLength(3);
    expect(rows[1]).toMatch(/^[\w-]{10}charge2 min ago$/);
    for (const key of keys) expect(await charging(key)).toBeNull();
    expect(charges.size).toBe(0);
    await ana.end();
  });

  it("H90: a form has the focus before the next key is handled, so what an operator types doesn't land elsewhere", async () => {
    await charging(randomUUID(), unanswered).catch(() => undefined);
    const { page } = await operator();
    const group = page.locator(".card.unknown");
    await group.getByRole("button", { name: /^List and decide/ }).click();

    const focused = await group.getByRole("button", { name: /^It happened/ }).evaluate(async (button) => {
      (button as HTMLElement).click();
      // The page renders in a microtask: no frame is painted and no key is handled before these two.
      await undefined;
      await undefined;
      return document.activeElement?.tagName;
    });

    expect(focused).toBe("SELECT");
  });

  it("41.11: keeps the state and the age of each key in view, and shows its life on a time axis", async () => {
    const key = randomUUID();
    await runOnce(holding(world, "create-international-order"), key, {}, async ({ step }) => {
      await step("reserve", () => 1);
      return unanswered();
    }).catch(() => undefined);

    const { page, openFirst } = await operator().then((ana) => ({
      page: ana.page,
      openFirst: () => ana.openFirst(),
    }));
    for (const name of ["State", "Since"]) {
      const box = await page.getByRole("columnheader", { name }).first().boundingBox();
      expect(box!.x + box!.width).toBeLessThanOrEqual(width);
    }
    const row = await page.getByRole("row", { name: "held" }).boundingBox();
    await openFirst();
    const picture = page.getByRole("img", { name: /^Time axis from/ });

    expect(row!.x + row!.width).toBeLessThanOrEqual(width);
    expect(await picture.getAttribute("aria-label")).toMatch(
      /attempt 1 .*; step reserve: done at .*; unknown, by handler at /,
    );
    expect(await picture.locator("rect").count()).toBe(3);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect(await findingsOf(page)).toEqual([]);
  });
});

it("H90: what the runbook's commands do is on the page, as its document says", () => {
  const textOf = (name: string) =>
    readFileSync(new URL(`../../../../docs/operate/${name}.md`, import.meta.url), "utf8");
  const commands = [...textOf("runbook").matchAll(/^npx --no onceonly (outbox \w+|\w+)(.*? --interrupt)?/gm)];
  const named = new Set(commands.map(([, name, interrupt = ""]) => `${name}${interrupt && " --interrupt"}`));

  const missing = [...named].filter((command) => !textOf("console").includes(`\`${command}`));

  expect(named.size).toBeGreaterThan(10);
  expect(missing).toEqual([]);
});
