// The handler of the README and the test of docs/guides/testing.md fit: typed as they stand there, they run and pass.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { typescriptFences } from "../../../../test/kit/fences.ts";
import { root } from "../../../../test/kit/project.ts";

const folder = mkdtempSync(join(root, "packages/explorer/test/explorer/documented-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fence = (file: string, part: string) => {
  const code = typescriptFences(file).find((each) => each.code.includes(part))?.code;
  return code ?? expect.unreachable(`${file} has no code with ${part}`);
};

/** The code of a test file, which then exports its test instead of telling the runner. */
function exported(code: string): string {
  return code
    .replace(/^\/\/ Yours: (import .*)\ndeclare const handler.*$/m, "$1")
    .replace('import { expect, it } from "vitest";', 'import { expect } from "vitest";')
    .replace(/^it\(/m, "export const documented = Array.of<unknown>(");
}

it("the event of docs/guides/testing.md fits the first handler of docs/start/quick-start.md", async () => {
  const variables = /env: (\{.*?\})/.exec(fence("docs/guides/testing.md", "vitest/config"))?.[1] ?? "";
  Object.assign(process.env, JSON.parse(variables.replaceAll(/(\w+):/g, '"$1":')));
  writeFileSync(
    join(folder, "create-order.ts"),
    fence("docs/start/quick-start.md", "export const handler = middy()"),
  );
  writeFileSync(
    join(folder, "create-order.check.ts"),
    exported(fence("docs/guides/testing.md", "toBeExactlyOnce")),
  );

  const { documented } = await import(join(folder, "create-order.check.ts"));

  expect(documented).toEqual(["creates an order once, whatever happens", expect.any(Function), 60_000]);
  await documented[1]();
});
