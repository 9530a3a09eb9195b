import { describe, expect, test } from "vitest";
import { MISTAKES, mistakesPage, UNNOTICED } from "./cases/all.ts";

for (const [title, mistakes] of Object.entries(MISTAKES)) {
  const run = mistakes.filter(({ reportedBy }) => reportedBy !== "type");
  if (run.length === 0) continue;
  describe(title, () => {
    for (const { made, reportedBy, text, make } of run) {
      test(`a user who ${made} gets the message: ${reportedBy}`, async () => {
        expect(text.length).toBeGreaterThan(0);
        expect(await make()).toContain(text);
      });
    }
  });
}

test("no mistake is listed twice", () => {
  const made = Object.values(MISTAKES).flatMap((mistakes) => mistakes.map((mistake) => mistake.made));
  expect(made).toEqual([...new Set(made)]);
});

/** The mistakes that were silent, or read badly, when users made them: in a table above, or with the reason why not. */
const WERE_SILENT = [
  "gives a retention of an hour in milliseconds",
  "puts the current milliseconds into the key in base 36",
  "puts the current second into the key",
  "gives a `fingerprint` that returns nothing",
  "passes `childKey` a random name",
  "doesn't await a step",
  "wraps two handlers under one operation",
  "runs one operation in two functions",
  "commits messages that no relay sends",
  "returns the status code as a string",
  "passes an asynchronous `scope`",
  "reads the scope from a header that the client sets",
  "puts the calendar day into the key",
  "passes the middleware to `middy()` instead of `.use()`",
];

test.each(WERE_SILENT)("S1: a user who %s gets a message, or the page says why there is none", (made) => {
  const reported = Object.values(MISTAKES).flat();
  const isReported = reported.some((mistake) => mistake.made === made && mistake.text.length > 0);
  const unnoticed = UNNOTICED.filter(([name]) => name === made);

  expect(isReported || unnoticed.length === 1).toBe(true);
  for (const cells of unnoticed) expect(cells.every((cell) => cell.length > 0)).toBe(true);
});

test("docs/reference/mistakes.md has every mistake", async () => {
  await expect(mistakesPage()).toMatchFileSnapshot("../../docs/reference/mistakes.md");
});
