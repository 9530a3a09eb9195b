// `onceonly conform` as a process: it prints what it found and ends, whatever became of the connections it has reset.
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { root } from "../../../test/kit/project.ts";
import { careless } from "./conform-given.ts";

it("43.3: prints its findings and exits, with 1 if a check found something and with 0 if not", async () => {
  const [good, bad] = [await careless(), await careless("shares keys between callers")];

  const [passed, failed] = await Promise.all([conformProcess(good), conformProcess(bad)]);

  expect(passed.printed).toMatch(/\n14 checks: 13 held, 0 differs, 0 broken, 1 skipped .*\n$/);
  expect(failed.printed).toMatch(/\n14 checks: 12 held, 0 differs, 1 broken, 1 skipped .*\n$/);
  expect([passed.status, failed.status]).toEqual([0, 1]);
});

/** Killed if it doesn't end by itself: its status is null then. */
async function conformProcess(url: string) {
  const args = [
    url,
    "--effects",
    url,
    "-H",
    "authorization: ana-secret",
    "--as",
    "authorization: ben-secret",
  ];
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "packages/cli/lib/onceonly.ts", "conform", ...args],
    {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
      signal: AbortSignal.timeout(25_000),
      killSignal: "SIGKILL",
    },
  ).on("error", () => undefined);
  const status = new Promise<number | null>((resolve) => void child.once("close", resolve));
  return { printed: await text(child.stdout), status: await status };
}
