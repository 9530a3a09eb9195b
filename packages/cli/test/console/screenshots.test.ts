// The pictures of the page in the docs, in both schemes: `npm run screenshots` takes them again.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { PermanentError } from "../../../../lib/core/errors.ts";
import { launchChromium } from "../../../../test/kit/chromium.ts";
import { newConsole, openPage } from "./page-world.ts";

const isAsked = process.env.ONCEONLY_SCREENSHOTS !== undefined;
const inDocs = (path: string) => fileURLToPath(new URL(`../../../../docs/${path}`, import.meta.url));
const pathOf = (name: string, scheme: string) => inDocs(`pictures/${name}-${scheme}.png`);

/** The whole page, and the decision about one key. */
const PICTURES = ["console", "console-decide"];
const SCHEMES = ["light", "dark"] as const;

/** The first two rows of the page. */
const SHOWN = { x: 0, y: 0, width: 1280, height: 1000 };

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

it("41.11: each picture of the page in the docs is taken here", () => {
  const page = readFileSync(inDocs("operate/console.md"), "utf8");

  const named = [...page.matchAll(/pictures\/([\w-]+)\.png/g)].map(([, name]) => name).toSorted();

  expect(named).toEqual(PICTURES.flatMap((name) => SCHEMES.map((each) => `${name}-${each}`)).toSorted());
});

describe.runIf(isAsked)("the console's screenshots", () => {
  it("are taken in both schemes", async () => {
    const { pay, paymentsQueue: queue, stack, url } = await newConsole(cleanups, true);
    await stack.functions.Echo!.host.invoke("{}");
    const body = {};
    const order = { operation: "create-order" };
    for (let number = 1; number <= 4; number++) {
      const key = `order-${number}`;
      await pay(({ commit }) => commit("done", { messages: [{ queue, key, body }] }), key, order);
      for (let times = 0; times < number; times++) await pay(() => "never", key, order);
      await new Promise((resolve) => setTimeout(resolve, 900));
    }
    const charge = { operation: "charge-payment" };
    for (const key of ["one", "two", "three"]) await pay(() => key, key, charge);
    await pay(() => "never", "one", charge);
    await pay(
      () => {
        throw new PermanentError("declined");
      },
      "four",
      charge,
    );
    const hold = { ...charge, whenAbandoned: "hold", leaseSeconds: 1, renewLease: false };
    for (const key of ["five", "six"])
      void pay(
        async ({ step }) => {
          await step("reserve", () => 1);
          await new Promise((resolve) => setTimeout(resolve, 300));
          return step("charge", () => new Promise(() => {}), { atMostOnce: true });
        },
        key,
        hold,
      );
    void pay(() => new Promise(() => {}), "seven", charge);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const browser = await launchChromium();
    cleanups.push(() => browser.close());

    for (const colorScheme of SCHEMES) {
      const { page } = await openPage(browser, url, cleanups, { colorScheme });
      await page.locator(".card").first().waitFor();
      await page.getByRole("row", { name: "abandoned" }).first().locator("button.key").click();
      await page.getByRole("article").waitFor();
      await page.screenshot({ path: pathOf("console", colorScheme), clip: SHOWN, fullPage: true });
      await page.getByRole("button", { name: "It happened for step charge" }).click();
      await page.getByLabel("Result of the step").fill('{"id":"ch_1"}');
      await page.getByLabel("Your name").fill("ana");
      await page.getByLabel("Reason").fill("ch_1 in the dashboard");
      await page.getByRole("article").screenshot({ path: pathOf("console-decide", colorScheme) });
    }

    expect(cleanups.length).toBeGreaterThan(0);
  });
});
