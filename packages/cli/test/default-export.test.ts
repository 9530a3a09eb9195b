// Commands that load a module of the person: each says which file it is, and why it cannot be loaded.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UsageError } from "../lib/commands.ts";
import { runAlone } from "./world.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "onceonly-modules-"));
});
afterAll(() => rm(folder, { recursive: true }));

const LOADS: Readonly<Record<string, (path: string) => readonly string[]>> = {
  openapi: (path) => [path],
  explore: (path) => [path],
  replay: (path) => ["key", "-o", "book", "-t", "records", "--handler", path],
  find: (path) => ["key", "-o", "book", "--store", path],
};

describe.each(Object.entries(LOADS))("onceonly %s", (command, argsOf) => {
  it.each([
    ["throws.mjs", 'throw new Error("it is broken")', /can't load .*throws\.mjs: it is broken$/],
    ["throws-nothing.mjs", "throw undefined", /can't load .*throws-nothing\.mjs: undefined$/],
    ["lacks.mjs", 'import "no-such-package"; export default {};', /can't load .*lacks\.mjs.*no-such-package/],
    ["package.json", '{"name":"shop"}', /package\.json.*(: |must export|doesn't export)/],
    ["empty.mjs", "", /empty\.mjs|must export/],
  ])("names an invalid module: %s", async (name, text, message) => {
    const path = join(folder, name);
    await writeFile(path, text);

    const asked = runAlone(command, argsOf(path));

    await expect(asked).rejects.toThrow(UsageError);
    await expect(asked).rejects.toThrow(message);
  });
});
