// The code of docs/start/quick-start.md and docs/guides/testing.md, written to files as the pages say: it runs, prints what they show, and passes.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatWithOptions } from "node:util";
import { afterAll, expect, it, vi } from "vitest";
import { fencesOf, typescriptFences } from "../../../../test/kit/fences.ts";
import { root } from "../../../../test/kit/project.ts";

const QUICK_START = "docs/start/quick-start.md";
const folder = mkdtempSync(join(root, "packages/explorer/test/explorer/documented-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fence = (file: string, part: string) => {
  const code = typescriptFences(file).find((each) => each.code.includes(part))?.code;
  return code ?? expect.unreachable(`${file} has no code with ${part}`);
};

/** The code of a test file, which then exports its test instead of registering it with the runner. */
function exported(code: string): string {
  return code
    .replace(/^\/\/ Yours: (import .*)\ndeclare const handler.*$/m, "$1")
    .replace('import { expect, it } from "vitest";', 'import { expect } from "vitest";')
    .replace(/^it\(/m, "export const documented = Array.of<unknown>(");
}

it("the event of docs/guides/testing.md fits the first handler of docs/start/quick-start.md", async () => {
  const variables = /env: (\{.*?\})/.exec(fence("docs/guides/testing.md", "vitest/config"))?.[1] ?? "";
  Object.assign(process.env, JSON.parse(variables.replaceAll(/(\w+):/g, '"$1":')));
  writeFileSync(join(folder, "create-order.ts"), typescriptFences(QUICK_START)[0]!.code);
  writeFileSync(
    join(folder, "create-order.check.ts"),
    exported(fence("docs/guides/testing.md", "toBeExactlyOnce")),
  );

  const { documented } = await import(join(folder, "create-order.check.ts"));

  expect(documented).toEqual(["creates an order once, whatever happens", expect.any(Function), 60_000]);
  await documented[1]();
});

it("docs/start/quick-start.md prints what it shows, for two calls and for the crashes", async () => {
  const shop = join(folder, "shop");
  mkdirSync(shop);
  const [event, twice, kill, ...others] = fencesOf(QUICK_START, "js");
  const files = { "handler.mjs": typescriptFences(QUICK_START)[0], "event.mjs": event, "twice.mjs": twice };
  for (const [file, each] of Object.entries({ ...files, "kill.mjs": kill })) {
    writeFileSync(join(shop, file), each!.code);
  }
  const printed: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...values) => {
    printed.push(`${formatWithOptions({ colors: false }, ...values)}\n`);
  });

  await import(join(shop, "twice.mjs")).finally(() => log.mockRestore());
  const { default: report } = await import(join(shop, "kill.mjs"));

  expect(others).toEqual([]);
  expect([printed.join(""), `${report}\n`]).toEqual(fencesOf(QUICK_START, "text").map(({ code }) => code));
});
