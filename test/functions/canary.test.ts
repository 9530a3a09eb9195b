// Secrets on their way through the whole sample on local engines: a card and an idempotency key. Somebody could read them in records,
// lines of logs and metrics, answers, and on the console's page in a browser.
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { DEMO_TOKENS } from "../../bin/demo-tokens.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { createBreakage } from "../../packages/cli/lib/console/breakage.ts";
import { startConsole } from "../../packages/cli/lib/console/console-server.ts";
import { decisionFeed } from "../../packages/cli/lib/console/decision-feed.ts";
import { stackSource } from "../../packages/cli/lib/console/stack-source.ts";
import { openPage } from "../../packages/cli/test/console/page-world.ts";
import { chromiumProgram, launchChromium, NO_CHROMIUM } from "../kit/chromium.ts";
import { root } from "../kit/project.ts";
import { run } from "../kit/run.ts";
import { type Shop, startShop } from "./world.ts";

const CARD = "card_canary_of_anna";
const KEY = "canary-key-4711";
const SECRET = /canary/;

const hasChromium = chromiumProgram() !== undefined;
if (!hasChromium) console.warn(NO_CHROMIUM);

const cleanups: (() => unknown)[] = [];
const answers: { readonly status: number; readonly text: string }[] = [];
let shop: Shop;

async function ask(path: string, body: unknown, key: string | undefined = KEY): Promise<void> {
  const headers = { authorization: `Bearer ${DEMO_TOKENS.acme}`, ...(key && { "idempotency-key": key }) };
  const response = await fetch(`${shop.stack.url}${path}`, {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const reported = JSON.stringify([...response.headers]);
  answers.push({ status: response.status, text: `${reported} ${await response.text()}` });
}

beforeAll(async () => {
  shop = await startShop(inject("dynamodbEngines")[0]?.endpoint);
  cleanups.push(shop.stop);
  const order = { sku: "tea", quantity: 2, card: CARD };
  await ask("/orders", order);
  await ask("/orders", order);
  await ask("/orders", { ...order, quantity: 3 });
  await ask("/orders", order, "");
  await ask("/orders", { ...order, card: `${CARD}!` }, `${KEY}-refused`);
  await ask("/orders", `{"card":"${CARD}"`, `${KEY}-no-json`);
  await ask("/shipped-orders", order, `${KEY}-saga`);
  await ask("/shipped-orders", order, `${KEY}-saga`);
  await shop.settled();
}, 180_000);
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe("a secret in the sample", () => {
  it("H38: is in no answer, replays and problems among them", () => {
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 422, 400, 400, 400, 409, 409]);
    expect(answers[1]?.text).toContain("idempotent-replayed");
    for (const { text } of answers) expect(text).not.toMatch(SECRET);
  });

  it("H38: is in no line that functions print, those of metrics among them, and no payload in one of the runner", () => {
    const decisions = shop.measured.flatMap(({ decision, event }) => decision ?? event);

    expect([...new Set(decisions)]).toEqual(
      expect.arrayContaining(["executed", "replayed", "mismatch", "key-missing", "sent"]),
    );
    for (const line of shop.lines.filter((each) => each.startsWith("["))) expect(line).not.toMatch(SECRET);
    // The runner's own line of a request names the key, which whoever sits there has sent.
    expect(shop.lines).toContainEqual(
      expect.stringMatching(/^CreateOrder {2}POST \/orders {2}422 .* canary-key-4711 /),
    );
    for (const line of shop.lines) expect(line).not.toContain(CARD);
  });

  it("H38: is in no record", async () => {
    const { endpoints, tables } = shop.stack;
    const credentials = { accessKeyId: "local", secretAccessKey: "local" };
    const client = new DynamoDBClient({ endpoint: endpoints.dynamodb, region: "us-east-1", credentials });
    cleanups.push(() => client.destroy());
    const itemsOf = async (table: string) => {
      const request = new ScanCommand({ TableName: tables[table]?.name, ConsistentRead: true });
      return JSON.stringify((await client.send(request)).Items);
    };

    expect(await itemsOf("Orders")).toContain(CARD);
    expect(await itemsOf("Idempotency")).toContain("create-order#acme#");
    expect(await itemsOf("Idempotency")).not.toMatch(SECRET);
  });

  it("H38: is in nothing that the console knows, nor on its page", async () => {
    await run(process.execPath, ["tools/build-console.mjs"], root);
    const decisions = decisionFeed();
    for (const line of shop.lines) decisions.take(line, Date.now());
    const { stack } = shop;
    const parts = { stack, title: "the sample", decisions, breakage: createBreakage(), clock: systemClock };
    const source = stackSource(parts);
    cleanups.push(source.close);
    const look = await source.look();
    const lives = await Promise.all(look.records.map(({ keyHash }) => source.lifeOf(keyHash)));
    const found = await source.find({ operation: "create-order", scope: "acme", key: KEY });

    expect(look.local?.decisions.counts).toMatchObject({ mismatch: 1, "key-missing": 1 });
    expect(lives.map((life) => life?.operation)).toContain("create-order");
    expect(found).toEqual({ keyHash: expect.stringMatching(/^[\w-]{43}$/) });
    expect(JSON.stringify([look, lives, found])).not.toMatch(SECRET);
    if (!hasChromium) return;

    const served = await startConsole({ source, port: 0, mayWrite: true });
    cleanups.push(served.stop);
    const browser = await launchChromium();
    cleanups.push(() => browser.close());
    const { page, asked, complaints } = await openPage(browser, served.url, cleanups);
    await page.locator("tbody button.key").first().click();
    await page.getByRole("article").waitFor();

    expect(await page.content()).toContain("create-order");
    expect(await page.content()).not.toMatch(SECRET);
    expect(asked.join()).not.toMatch(SECRET);
    expect(complaints).toEqual([]);
  });
});
