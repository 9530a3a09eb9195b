// The files that a call crosses: each is one more to open for somebody who follows it.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { root } from "../../kit/project.ts";

it("an HTTP commit crosses 25 files of the built package at most, a replay 20, one send of the relay 12, beside those of the database", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "tools/trips.mjs")]);
  const counts = [...stdout.matchAll(/^(.+): (\d+) files, and (\d+) of the database$/gm)];
  const files = Object.fromEntries(counts.map(([, trip, count]) => [trip, Number(count)]));

  expect(files).toEqual({
    "an HTTP commit of a write and a message": expect.any(Number),
    "an HTTP replay": expect.any(Number),
    "one send of the relay": expect.any(Number),
    "a plain first run": expect.any(Number),
  });
  expect(files["an HTTP commit of a write and a message"]).toBeLessThanOrEqual(25);
  expect(files["an HTTP replay"]).toBeLessThanOrEqual(20);
  expect(files["one send of the relay"]).toBeLessThanOrEqual(12);
}, 60_000);
