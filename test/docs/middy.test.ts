// docs/reference/middy-hooks.md says what test/lambda/middy/hooks.test.ts proves. To write its table again: npx vitest run test/docs -u
import { expect, it } from "vitest";
import { expectGenerated } from "../kit/generated.ts";
import { HOOK_ROWS } from "../lambda/middy/cases/hook-rows.ts";
import { TIMEOUT_ROWS } from "../lambda/middy/cases/timeout-rows.ts";

it("docs/reference/middy-hooks.md has a row for each position of a hook that is tested", async () => {
  const rows = [...HOOK_ROWS, ...TIMEOUT_ROWS].map(
    ({ where, what, recorded, caller, retry }) => `| ${[where, what, recorded, caller, retry].join(" | ")} |`,
  );
  const head = [
    "| where | what it does | recorded | this caller gets | a retry gets, or does |",
    "|---|---|---|---|---|",
  ];

  expect(rows.length).toBeGreaterThan(0);
  await expectGenerated("docs/reference/middy-hooks.md", { hooks: [...head, ...rows].join("\n") });
});
