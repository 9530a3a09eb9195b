// Pictures of ten pages on a desktop and a phone, light and dark, to look at: `npm run site:pictures` after `npm run site`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { launchChromium } from "../kit/chromium.ts";
import { root } from "../kit/project.ts";
import { BASE } from "./given.ts";
import { serveSite } from "./world.ts";

const folder = process.env.ONCEONLY_SITE_PICTURES;
const PAGES = [
  "",
  "start/quick-start",
  "start/tutorial",
  "guides/http",
  "guides/payment-providers",
  "operate/runbook",
  "reference/options",
  "reference/errors",
  "api/onceonly/stores",
  "proof/hazards",
];
const VIEWPORTS = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

describe.runIf(folder !== undefined)("pictures of the site", () => {
  it("are taken of ten pages", async () => {
    const out = join(root, folder!);
    mkdirSync(out, { recursive: true });
    const { origin, stop } = await serveSite();
    const browser = await launchChromium();
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [device, viewport] of Object.entries(VIEWPORTS)) {
        const page = await browser.newPage({ viewport, colorScheme, reducedMotion: "reduce" });
        for (const path of PAGES) {
          await page.goto(`${origin}${BASE}${path}`, { waitUntil: "networkidle" });
          const name = `${path.replaceAll("/", "-") || "home"}-${device}-${colorScheme}.png`;
          await page.screenshot({ path: join(out, name), fullPage: path === "" });
        }
        await page.close();
      }
    }
    await browser.close();
    await stop();

    expect(PAGES).toHaveLength(10);
  }, 600_000);
});
