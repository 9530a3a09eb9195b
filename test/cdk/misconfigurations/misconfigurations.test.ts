import { describe, expect, it, test } from "vitest";
import { MISCONFIGURATIONS, misconfigurationsPage } from "./cases/all.ts";
import { runner, saidOf, tableIn, type Verdict } from "./given.ts";

/** What each verdict looks like. A warning may come with a note, and a refusal is CDK's or ours. */
const SAID: Readonly<Record<Verdict, ReturnType<typeof saidOf>["verdict"]>> = {
  refused: "refused",
  "refused by CDK": "refused",
  warned: "warned",
  noted: "noted",
  accepted: "nothing",
};

describe("a synthesis", () => {
  it("says nothing of what is right", () => {
    expect(saidOf((stack) => runner(stack, { table: tableIn(stack) }))).toEqual({
      verdict: "nothing",
      texts: [],
    });
  });

  it.each(MISCONFIGURATIONS)("$number: says of $wrong: $verdict", ({ verdict, by, make }) => {
    const said = saidOf(make);

    expect(said).toMatchObject({ verdict: SAID[verdict] });
    if (verdict !== "accepted") expect(said.texts.join("\n")).toContain(by);
  });
});

describe("docs/use/misconfigurations.md", () => {
  it("has every misconfiguration", async () => {
    await expect(misconfigurationsPage()).toMatchFileSnapshot("../../../docs/use/misconfigurations.md");
  });

  test("at least 160 are tried, and at most 25 accepted, each with its reason", () => {
    const accepted = MISCONFIGURATIONS.filter(({ verdict }) => verdict === "accepted");

    expect(MISCONFIGURATIONS.length).toBeGreaterThanOrEqual(160);
    expect(accepted.length).toBeLessThanOrEqual(25);
    expect(new Set(accepted.map(({ by }) => by)).size).toBeGreaterThan(15);
  });

  test("none is listed twice", () => {
    const wrong = MISCONFIGURATIONS.map((each) => `${each.number[0]} ${each.wrong}`);
    expect(wrong).toEqual([...new Set(wrong)]);
  });
});
