import { describe, expect, it, test } from "vitest";
import { MISCONFIGURATIONS, misconfigurationsPage } from "./cases/all.ts";
import { NEIGHBOURS_OF_KEYS } from "./cases/neighbours.ts";
import { CORRECT } from "./correct.ts";
import { type Misconfiguration, saidOf, type Verdict } from "./given.ts";

/** What each verdict looks like. A warning may come with a note, and a refusal is CDK's or ours. */
const SAID: Readonly<Record<Verdict, ReturnType<typeof saidOf>["verdict"]>> = {
  refused: "refused",
  "refused by CDK": "refused",
  warned: "warned",
  noted: "noted",
  accepted: "nothing",
};

describe("a synthesis", () => {
  const isOfKeys = (each: (typeof CORRECT)[number]) => NEIGHBOURS_OF_KEYS.includes(each);

  function expectNothing(_: string, make: Misconfiguration["make"]): void {
    expect(saidOf(make)).toEqual({ verdict: "nothing", texts: [] });
  }

  it.each(CORRECT.filter((each) => !isOfKeys(each)))("reports nothing for a correct app: %s", expectNothing);
  it.each(CORRECT.filter(isOfKeys))("H91: B9: reports nothing for a correct app: %s", expectNothing);

  function expectSaid({ verdict, by, make }: Misconfiguration): void {
    const said = saidOf(make);

    expect(said).toMatchObject({ verdict: SAID[verdict] });
    if (verdict !== "accepted") expect(said.texts.join("\n")).toContain(by);
  }

  const rowsOf = (given: string | undefined) => MISCONFIGURATIONS.filter(({ item }) => item === given);

  it.each(rowsOf(undefined))("$number: reports for $wrong: $verdict", expectSaid);
  it.each(rowsOf("H79: R1"))("H79: R1: $number: reports for $wrong: $verdict", expectSaid);
  it.each(rowsOf("B8"))("B8: $number: reports for $wrong: $verdict", expectSaid);
  it.each(rowsOf("B9"))("H91: B9: $number: reports for $wrong: $verdict", expectSaid);
  it.each(rowsOf("B14"))("B14: $number: reports for $wrong: $verdict", expectSaid);
  it.each(rowsOf("R4"))("R4: $number: reports for $wrong: $verdict", expectSaid);
  it.each(rowsOf("H92"))("H92: $number: reports for $wrong: $verdict", expectSaid);
});

describe("docs/reference/misconfigurations.md", () => {
  it("has every misconfiguration", async () => {
    await expect(misconfigurationsPage()).toMatchFileSnapshot("../../../docs/reference/misconfigurations.md");
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
