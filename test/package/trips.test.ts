// The files that a call crosses: each is one more to open for somebody who follows it.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { root } from "../../kit/project.ts";

it("one send of the relay crosses 12 files of the built package at most, beside those of the database", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, "tools/trips.mjs")]);
  const counts = [...stdout.matchAll(/^(.+): (\d+) files, and (\d+) of the database$/gm)];
  const files = new Map(counts.map(([, trip, count]) => [trip, Number(count)]));

  expect([...files.keys()]).toEqual([
    "an HTTP commit of a write and a message",
    "an HTTP replay",
    "one send of the relay",
    "a plain first run",
  ]);
  expect(files.get("one send of the relay")).toBeLessThanOrEqual(12);
}, 60_000);
