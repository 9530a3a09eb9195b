// A headless Chromium of this machine, for pages of our own on loopback. It asks nobody else.
import { spawnSync } from "node:child_process";
import { type Browser, chromium } from "playwright-core";

/** For who has none: what to install. */
export const NO_CHROMIUM =
  "no Chromium found: install the one of this system (apt-get install chromium), or set CHROMIUM_PATH";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The path of the program; `undefined` without one. */
export function chromiumProgram(): string | undefined {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  for (const program of PROGRAMS) {
    const { status, stdout } = spawnSync("which", [program], { encoding: "utf8" });
    if (status === 0) return stdout.trim();
  }
  return undefined;
}

export function launchChromium(): Promise<Browser> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error(NO_CHROMIUM);
  return chromium.launch({ executablePath, args: ARGS });
}
