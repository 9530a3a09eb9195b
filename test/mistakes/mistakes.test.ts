import { describe, expect, test } from "vitest";
import { MISTAKES, mistakesPage } from "./cases/all.ts";

for (const [title, mistakes] of Object.entries(MISTAKES)) {
  const run = mistakes.filter(({ toldBy }) => toldBy !== "type");
  if (run.length === 0) continue;
  describe(title, () => {
    for (const { made, toldBy, text, make } of run) {
      test(`a user who ${made} is told by the ${toldBy}`, async () => {
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

test("docs/reference/mistakes.md has every mistake", async () => {
  await expect(mistakesPage()).toMatchFileSnapshot("../../docs/reference/mistakes.md");
});
