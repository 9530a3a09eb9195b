// The page of the console in a real browser: what it shows, its keys, its addresses, and whether everybody can use it.
import type { Browser } from "playwright-core";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { PermanentError } from "../../../../lib/core/errors.ts";
import { chromiumProgram, launchChromium, NO_CHROMIUM } from "../../../../test/kit/chromium.ts";
import { findingsOf } from "./axe.ts";
import { type ConsoleUnderTest, newConsole, openPage, SECRET } from "./page-world.ts";

const hasChromium = chromiumProgram() !== undefined;
if (!hasChromium) console.warn(NO_CHROMIUM);

const cleanups: (() => unknown)[] = [];
const lasting: (() => unknown)[] = [];
const cleanUp = async (list: (() => unknown)[]) => {
  for (const cleanup of list.splice(0).reverse()) await cleanup();
};
afterEach(() => cleanUp(cleanups));

describe.runIf(hasChromium)("the console page", () => {
  let shop: ConsoleUnderTest;
  let replayedKey: string;
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium();
    lasting.push(() => browser.close());
    shop = await newConsole(lasting);
    const { pay, paymentsQueue: queue } = shop;
    replayedKey = await pay(() => ({ card: SECRET }));
    for (let times = 0; times < 2; times++) await pay(() => "never", replayedKey);
    await pay(() => {
      throw new PermanentError(SECRET);
    });
    await pay(() => {
      throw new Error(SECRET);
    });
    await pay(({ commit }) =>
      commit("done", { messages: [{ queue, key: "order-7", body: { card: SECRET } }] }),
    );
    void pay(() => new Promise(() => {}));
    return () => cleanUp(lasting);
  });

  it("shows the live records by state, and those of one state", async () => {
    const { page } = await openPage(browser, shop.url, cleanups);
    const rows = page.locator("section", { hasText: "All records" }).locator("tbody tr");

    await rows.nth(4).waitFor();
    expect(await rows.count()).toBe(5);
    await page.getByRole("button", { name: "failed 1" }).click();
    expect(await rows.count()).toBe(1);
    expect(await rows.first().textContent()).toMatch(/pay.*acme.*failed/);
  });

  it("shows the life of a key that is found, and keeps the key out of every address", async () => {
    const { page, asked } = await openPage(browser, shop.url, cleanups);

    await page.keyboard.press("/");
    await page.keyboard.type("pay");
    await page.keyboard.press("Tab");
    await page.keyboard.type("acme");
    await page.keyboard.press("Tab");
    await page.keyboard.type(replayedKey);
    await page.keyboard.press("Enter");
    const article = page.getByRole("article");
    await article.waitFor();

    expect(await article.textContent()).toMatch(/completed, attempt 1.*request: first received/);
    expect(page.url()).toMatch(/#[\w-]{43}$/);
    expect(await page.locator('input[name="key"]').inputValue()).toBe("");
    await page.keyboard.press("Escape");
    await article.waitFor({ state: "detached" });
    for (const address of asked) expect(address).not.toContain(SECRET);
    for (const address of asked) expect(new URL(address).origin).toBe(new URL(shop.url).origin);
  });

  it("says that a key has no record, and shows nothing of it", async () => {
    const { page } = await openPage(browser, shop.url, cleanups);

    await page.getByLabel("Operation").fill("pay");
    await page.getByLabel("Key", { exact: true }).fill("never-used");
    await page.getByRole("button", { name: "Find" }).click();

    await page.getByText("No record: nothing ran").waitFor();
    expect(page.url()).not.toContain("#");
  });

  it("is used by the keyboard alone: arrows between records, Enter opens one, Escape closes it", async () => {
    const { page } = await openPage(browser, shop.url, cleanups);
    const keys = page.locator("tbody button.key");
    await keys.nth(3).waitFor();

    await page.keyboard.press("ArrowDown");
    const first = await page.evaluate(() => document.activeElement?.getAttribute("title"));
    expect(first).toBe(await keys.first().getAttribute("title"));
    await page.keyboard.press("ArrowDown");
    const second = await keys.nth(1).getAttribute("title");
    const focused = await page.evaluate(() => document.activeElement?.getAttribute("title"));
    await page.keyboard.press("Enter");
    await page.getByRole("article").waitFor();

    expect(focused).toBe(second);
    expect(await page.locator("article > .hash").textContent()).toMatch(new RegExp(`^pay#acme#${second}$`));
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("life-name");
    expect(new URL(page.url()).hash).toBe(`#${second}`);
    await page.goBack();
    await page.getByRole("article").waitFor({ state: "detached" });
  });

  it("shows executions against replays as they happen", async () => {
    const { page } = await openPage(browser, shop.url, cleanups);
    const replays = page.locator("dl .replayed dd");
    await replays.waitFor();
    const before = Number(await replays.textContent());

    await shop.pay(() => "never", replayedKey);

    await page.waitForFunction(
      (more) => document.querySelector("dl .replayed dd")?.textContent === `${more}`,
      before + 1,
    );
    expect(Number(await page.locator("dl .executed dd").textContent())).toBeGreaterThan(1);
  });

  it("looks no more while it is paused", async () => {
    const { page } = await openPage(browser, shop.url, cleanups);
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Pause" }).and(page.locator('[aria-pressed="true"]')).waitFor();
    await page.waitForLoadState("networkidle");
    const replays = await page.locator("dl .replayed dd").textContent();

    await shop.pay(() => "never", replayedKey);
    await page.clock.install();
    await page.clock.fastForward(60_000);
    const paused = await page.locator("dl .replayed dd").textContent();
    await page.keyboard.press("r");
    await page.waitForFunction(
      (former) => document.querySelector("dl .replayed dd")?.textContent !== former,
      replays,
    );

    expect(paused).toBe(replays);
  });

  it("groups what waits, and shows queues with their dead letters", async () => {
    const { page } = await openPage(browser, shop.url, cleanups);

    const group = page.locator(".card.waiting");
    await group.waitFor();
    expect(await group.textContent()).toMatch(/pay 1waiting, to \S*payments/);
    expect(await page.getByRole("row", { name: "DeadPayments" }).textContent()).toMatch(
      /dead letters of Payments 000/,
    );
  });

  it("shows no key, no payload, no result and no message of an error, and the browser complains of nothing", async () => {
    const { page, complaints } = await openPage(browser, shop.url, cleanups);
    for (const button of await page.locator("tbody button.key").all()) await button.click();
    await page.getByRole("article").waitFor();

    expect(await page.content()).not.toContain(SECRET);
    expect(complaints).toEqual([]);
  });

  it("has no button that changes something, unless it was started to write", async () => {
    const { page } = await openPage(browser, shop.url, cleanups);
    await page.locator(".card").first().waitFor();

    expect(await page.locator("button.act").count()).toBe(0);
    expect(await page.locator(".badge").textContent()).toBe("read-only");
  });

  it("does what a button says, and lists the commits and asks before it drops", async () => {
    const mine = await newConsole(cleanups, true);
    const { paymentsQueue: queue } = mine;
    await mine.pay(({ commit }) => commit("done", { messages: [{ queue, key: "order-7", body: {} }] }));
    await mine.stack.functions.Echo!.host.invoke("{}");
    const { page, complaints } = await openPage(browser, mine.url, cleanups);
    const status = page.locator(".outcome");

    await page.getByRole("button", { name: "Send a duplicate to Echo" }).click();
    await status.getByText("Delivered the last event of Echo again").waitFor();
    await page.getByRole("button", { name: "Take down Payments", exact: true }).click();
    await page.getByRole("button", { name: "Bring back Payments" }).waitFor();
    for (const path of ["News", "ShopBus"]) {
      await page.getByRole("button", { name: `Take down ${path}`, exact: true }).click();
      await page.getByRole("button", { name: `Bring back ${path}` }).waitFor();
    }
    await page.getByRole("button", { name: "Kill Echo" }).click();
    await status.getByText("Echo is idle: it will be killed after its next write.").waitFor();
    await page.getByRole("button", { name: "Lose the next response" }).click();
    await page.getByText("Waiting for the next write.").waitFor();
    const card = page.locator(".card.waiting");
    const undecided = await card.getByRole("button", { name: /Send again|Drop/ }).count();
    await card.getByRole("button", { name: "List and decide: 1 commit" }).click();
    const row = await card.getByRole("row").nth(1).textContent();
    await card.getByRole("button", { name: "Drop: 1 commit" }).click();
    await card.getByText("this can't be taken back").waitFor();
    await card.getByLabel("Your name").fill("ops");
    await card.getByLabel("Reason").fill("nobody needs it");
    await page.getByRole("button", { name: "Drop for good: 1 commit" }).click();
    await page.locator(".card.waiting").waitFor({ state: "detached" });

    expect(undecided).toBe(0);
    expect(row).toMatch(/^[\w-]{10}pay\d/);
    expect(await status.textContent()).toContain("Dropped messages of 1 commits: 1.");
    expect(await findingsOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it.each(["light", "dark"] as const)("has no finding of axe in the %s scheme", async (colorScheme) => {
    const { page } = await openPage(browser, shop.url, cleanups, { colorScheme });
    await page.locator(".card").first().waitFor();
    await page.locator("tbody button.key").first().click();
    await page.getByRole("article").waitFor();
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);

    expect(await findingsOf(page)).toEqual([]);
    expect(ground).toBe(colorScheme === "light" ? "rgb(246, 247, 249)" : "rgb(17, 20, 26)");
  });

  it("H93: R6: shows marks of direction, controls and characters without a width in names", async () => {
    await shop.pay(() => "done", undefined, { operation: "pay\u202egpj", scope: "acme\u200b\u009b31m" });

    const { page } = await openPage(browser, shop.url, cleanups);
    await page.getByText("pay\\u202egpj").first().waitFor();

    // biome-ignore lint/performance/useDomNodeTextContent: the text as a person sees it, without the scripts.
    const text = await page.evaluate(() => document.body.innerText);
    expect(text).toContain("acme\\u200b");
    expect(text.replaceAll("\n", "").replaceAll("\t", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
