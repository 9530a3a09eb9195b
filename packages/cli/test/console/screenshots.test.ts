// The pictures of the README, in both schemes: `npm run screenshots` takes them anew.
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { PermanentError } from "../../../../lib/core/errors.ts";
import { launchChromium } from "../../../../test/kit/chromium.ts";
import { newConsole, openPage } from "./page-world.ts";

const isAsked = process.env.ONCEONLY_SCREENSHOTS !== undefined;
const pathOf = (scheme: string) =>
  fileURLToPath(new URL(`../../../../docs/console-${scheme}.png`, import.meta.url));

/** The first two rows of the page. */
const SHOWN = { x: 0, y: 0, width: 1280, height: 1000 };

const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
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
      void pay(async ({ step }) => step("charge", () => new Promise(() => {})), key, hold);
    void pay(() => new Promise(() => {}), "seven", charge);
    await new Promise((resolve) => setTimeout(resolve, 2500));
    const browser = await launchChromium();
    cleanups.push(() => browser.close());

    for (const colorScheme of ["light", "dark"] as const) {
      const { page } = await openPage(browser, url, cleanups, { colorScheme });
      await page.locator(".card").first().waitFor();
      await page.getByRole("row", { name: "abandoned" }).first().locator("button.key").click();
      await page.getByRole("article").waitFor();
      await page.screenshot({ path: pathOf(colorScheme), clip: SHOWN, fullPage: true });
    }

    expect(cleanups.length).toBeGreaterThan(0);
  });
});
