// The built site in Chromium: every page, its search, its contrast, and its first screen on a desktop and a phone.
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumProgram, launchChromium, NO_CHROMIUM } from "../kit/chromium.ts";
import { BASE, builtPages } from "./given.ts";
import { buildSite, serveSite } from "./world.ts";

const hasChromium = chromiumProgram() !== undefined;
if (!hasChromium) console.warn(NO_CHROMIUM);

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
/** The home page, one page of each section, and the largest tables. */
const LOOKED_AT = [
  "",
  "start/tutorial",
  "guides/http",
  "operate/runbook",
  "reference/errors",
  "reference/misconfigurations",
  "api/onceonly/stores",
  "proof/hazards",
].map((path) => `${BASE}${path}`);

/** The schemes differ in colours only. */
const RULES = { light: "axe.run()", dark: 'axe.run({ runOnly: ["color-contrast"] })' };

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
  readonly passes: readonly { readonly id: string }[];
}

interface Opened {
  readonly page: Page;
  /** What the console printed as an error, and requests that failed or went elsewhere. */
  readonly faults: string[];
}

describe.runIf(hasChromium)("the site", () => {
  let browser: Browser;
  let origin: string;
  const cleanups: (() => unknown)[] = [];

  beforeAll(async () => {
    await buildSite();
    const served = await serveSite();
    origin = served.origin;
    cleanups.push(served.stop);
    browser = await launchChromium();
    cleanups.push(() => browser.close());
  }, 600_000);
  afterAll(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  async function open(options: BrowserContextOptions = {}): Promise<Opened> {
    const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: "reduce", ...options });
    cleanups.push(() => context.close());
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") faults.push(`${page.url()}: ${message.text()}`);
    });
    page.on("pageerror", (error) => faults.push(`${page.url()}: ${error.message}`));
    page.on("requestfailed", (request) => {
      // What was to be loaded ahead when the next page was opened.
      const error = request.failure()?.errorText;
      if (error !== "net::ERR_ABORTED") faults.push(`${page.url()}: ${request.url()} ${error}`);
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && url.protocol !== "data:") faults.push(`${page.url()}: ${request.url()}`);
    });
    return { page, faults };
  }

  /** What makes the page scroll sideways; `undefined` if it doesn't. */
  const widest = (page: Page) =>
    page.evaluate(() => {
      const { clientWidth, scrollWidth } = document.documentElement;
      if (scrollWidth <= clientWidth) return undefined;
      const wide = [...document.querySelectorAll("main *")].filter(
        (element) => element.getBoundingClientRect().right > clientWidth && !element.closest(".wide, pre"),
      );
      return wide[0]?.outerHTML.slice(0, 200) ?? "something outside of main";
    });

  it("38.5: opens every page without an error in the console, another host, or a sideways scroll on desktop and phone", async () => {
    const { page, faults } = await open();
    const wide: string[] = [];
    for (const { address } of builtPages()) {
      await page.setViewportSize(DESKTOP);
      await page.goto(`${origin}${address}`, { waitUntil: "load" });
      for (const viewport of [DESKTOP, PHONE]) {
        await page.setViewportSize(viewport);
        const by = await widest(page);
        if (by !== undefined) wide.push(`${address} at ${viewport.width} px: ${by}`);
      }
    }

    expect(faults).toEqual([]);
    expect(wide).toEqual([]);
  }, 600_000);

  it.each(["light", "dark"] as const)(
    "38.5: axe finds no violation, in %s",
    async (colorScheme) => {
      const found: string[] = [];
      const passed = new Set<string>();
      for (const address of LOOKED_AT) {
        const { page } = await open({ colorScheme });
        await page.goto(`${origin}${address}`, { waitUntil: "networkidle" });
        await page.addScriptTag({ path: AXE });
        const results = await page.evaluate<AxeResults>(RULES[colorScheme]);
        for (const { id } of results.passes) passed.add(id);
        for (const { id, nodes } of results.violations)
          for (const { html, failureSummary } of nodes.slice(0, 3))
            found.push(`${address}: ${id}: ${html} ${failureSummary}`);
      }

      expect(found).toEqual([]);
      expect(passed).toContain("color-contrast");
    },
    600_000,
  );

  it.each([
    ["1280 × 800", DESKTOP],
    ["a phone of 390 px", PHONE],
  ])("38.5: the first screen of %s has the tagline and the four links", async (_, viewport) => {
    const { page } = await open({ viewport });
    await page.goto(`${origin}${BASE}`, { waitUntil: "networkidle" });
    const shown = [
      page.getByText("Make Lambda handlers, queue consumers and workflows safe to retry").first(),
      ...["HTTP", "Queues and streams", "Payment providers", "Migrate from Powertools"].map((name) =>
        page.getByRole("navigation", { name: "Where to start" }).getByRole("link", { name }),
      ),
    ];

    for (const each of shown) {
      const box = await each.boundingBox();
      expect(box && box.y + box.height).toBeLessThanOrEqual(viewport.height);
      expect(box && box.x + box.width).toBeLessThanOrEqual(viewport.width);
    }
    expect(await widest(page)).toBeUndefined();
  });

  it("38.5: the search finds a word without the network", async () => {
    const { page, faults } = await open();
    await page.goto(`${origin}${BASE}`, { waitUntil: "networkidle" });

    await page.keyboard.press("/");
    await page.locator("#localsearch-input").fill("lease");
    const results = page.locator(".VPLocalSearchBox .result");
    await results.first().waitFor();

    expect(await results.count()).toBeGreaterThan(3);
    expect((await results.allTextContents()).join(" ").toLowerCase()).toContain("lease");
    expect(faults).toEqual([]);
  });

  it("38.4: the crash that a reader chooses is played, with and without onceonly", async () => {
    const { page, faults } = await open();
    await page.goto(`${origin}${BASE}`, { waitUntil: "networkidle" });
    const end = page.locator(".crash .verdict");

    await page.getByRole("radio", { name: "after the charge" }).check();
    await page.getByRole("radio", { name: "wrapped in onceonly" }).check();
    await page.getByText("409 with Retry-After").waitFor();
    expect(await end.textContent()).toBe("1 charge, 1 order");

    await page.getByRole("radio", { name: "careless" }).check();
    await page.getByText("2 charges, 1 order, for one request").waitFor();

    await page.getByRole("radio", { name: "after the commit" }).check();
    await page.getByText("2 charges, 2 orders, for one request").waitFor();

    await page.getByRole("radio", { name: "wrapped in onceonly" }).check();
    await page.getByText("The stored answer again").waitFor();
    expect(await end.textContent()).toBe("1 charge, 1 order");
    expect(faults).toEqual([]);
  });
});
