import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { removePatches } from "onceonly-explorer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runOnce } from "../../../lib/core/run-once.ts";
import { UsageError } from "../lib/commands.ts";
import { newWorld, runAlone, type World } from "./world.ts";

const SECRET = "canary-4711";
const handler = fileURLToPath(new URL("replayed-given.ts", import.meta.url));

let world: World;
let folder: string;
beforeAll(async () => {
  world = await newWorld();
  folder = await mkdtemp(join(tmpdir(), "onceonly-replay-"));
});
afterAll(async () => {
  await removePatches();
  await rm(folder, { recursive: true });
});

/** An attempt that is killed while the step `last` is at work. */
async function killedAt(last: string, steps = ["charge", "book", "mail"]): Promise<string> {
  const key = randomUUID();
  const { store, clock } = world;
  const options = {
    operation: "book",
    store,
    clock,
    leaseSeconds: 30,
    renewLease: false,
    whenAbandoned: "hold",
  } as const;
  await new Promise<void>((killed) => {
    const work = (name: string) => {
      if (name !== last) return { secret: SECRET };
      killed();
      return new Promise<never>(() => {});
    };
    void runOnce(options, key, { secret: SECRET }, async ({ step }) => {
      for (const name of steps)
        await step(name, () => work(name), { atMostOnce: name === "book" || name === "ship" });
    });
  });
  return key;
}

describe("onceonly replay", () => {
  it("names the crashes that leave a record like that of the key, and shows the run up to there", async () => {
    const key = await killedAt("book");

    const { status, text } = await world.run("replay", [key, "-o", "book", "--handler", handler]);

    expect(status).toBe(0);
    expect(text).toMatch(/^the record is in-progress, step book begun, step charge done\n/);
    const [, ...lines] = text.split("\n\n")[0]!.split("\n");
    expect(lines).toEqual([
      'a crash after point 3 (dynamodb UpdateItem idempotency) leaves such a record: only: "3 crash-after"',
      'a crash before point 4 (dynamodb UpdateItem idempotency) leaves such a record: only: "4 crash-before"',
    ]);
    expect(text.split("\n").at(-2)).toMatch(/ 3 dynamodb UpdateItem idempotency: ok {2}◀ crash$/);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(key);
  });

  it("accepts the output of `find --json` from another machine, and prints JSON", async () => {
    const key = await killedAt("mail");
    const { text: found } = await world.run("find", [key, "-o", "book", "--json"]);
    const record = join(folder, "record.json");
    await writeFile(record, found);

    const { status, text } = await runAlone("replay", [
      "--record",
      record,
      "-o",
      "book",
      "--handler",
      handler,
      "--json",
    ]);

    const { crashes } = JSON.parse(text);
    expect(status).toBe(0);
    expect(crashes.map(({ id }: { id: string }) => id)).toEqual(["4 crash-after", "5 crash-before"]);
  });

  it("reports that no crash of this handler leaves such a record", async () => {
    const key = await killedAt("ship", ["charge", "ship"]);

    const { status, text } = await world.run("replay", [key, "-o", "book", "--handler", handler]);

    expect(status).toBe(1);
    expect(text).toMatch(/none of \d+ crashes leaves such a record/);
  });

  it("rejects a module without a handler, and a file that holds no record, without revealing it", async () => {
    const wrong = join(folder, "wrong.mjs");
    await writeFile(wrong, "export default {};");
    const text = join(folder, "text.json");
    await writeFile(text, SECRET);

    const asked = world.run("replay", ["key", "--handler", wrong, "-o", "book"]);
    await expect(asked).rejects.toThrow("must export { handler, event, options }");
    const error = await runAlone("replay", ["--record", text, "--handler", handler, "-o", "book"]).catch(
      (reason: Error) => reason,
    );
    expect(`${error}`).toContain("--record must be a file");
    expect(`${error}`).not.toContain(SECRET);
  });

  it.each([
    [
      ["--record", "none.json", "--handler", "<handler>"],
      "can't read the record file none.json: no such file",
    ],
    [["key", "--record", "none.json", "--handler", "<handler>"], "pass a key or --record, not both"],
    [
      ["key", "-t", "records", "--handler", "none.mjs"],
      "can't read the handler module none.mjs: no such file",
    ],
  ])("refuses %j", async (args, message) => {
    const given = args.map((arg) => (arg === "<handler>" ? handler : arg));
    const asked = runAlone("replay", ["-o", "book", ...given]);

    await expect(asked).rejects.toThrow(UsageError);
    await expect(asked).rejects.toThrow(message);
  });
});
