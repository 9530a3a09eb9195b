import { describe, expect, it } from "vitest";
import { compareEffects } from "../../lib/explorer/compare-effects.ts";
import type { Effect, KeyedEffect } from "../../lib/explorer/effect.ts";
import type { Plain } from "../../lib/explorer/plain-value.ts";
import { placeOf, VolatileValues } from "../../lib/explorer/volatile-values.ts";

const item = (content: { readonly [name: string]: Plain }, place = "orders"): Effect => ({
  kind: "item",
  place,
  content,
});
const observed = (effects: readonly Effect[]) =>
  effects.map((effect) => ({ place: placeOf(effect), content: effect.content }));
const nothingVolatile = new VolatileValues([], []);

function wordsOf(expected: readonly Effect[], found: readonly Effect[], before: readonly Effect[] = []) {
  return compareEffects(expected, found, nothingVolatile, before).map(({ kind, what }) => [kind, what]);
}

describe("compareEffects", () => {
  const tea = item({ id: "a", sku: "tea", pieces: 2 });
  const call: Effect = {
    kind: "call",
    place: "POST https://pay.example.com/charges",
    content: { key: null },
  };
  const message: Effect = { kind: "message", place: "mails", content: { body: "hello" } };

  it.each([
    ["a doubled row", [tea], [tea, tea], "happens-twice", "2 items in orders instead of 1"],
    ["a row out of nothing", [], [tea], "happens-twice", "1 item in orders instead of none"],
    ["a missing row", [tea], [], "lost", "no item in orders instead of 1"],
    ["a doubled call", [call], [call, call], "happens-twice", `2 calls of ${call.place} instead of 1`],
    ["a missing message", [message, message], [message], "lost", "1 message in mails instead of 2"],
  ] as const)("reports %s", (_, expected, found, kind, what) => {
    expect(wordsOf(expected, found)).toEqual([[kind, what]]);
  });

  it.each([
    ["too far up", 0, 1, 2, "happens-twice"],
    ["too far down", 10, 8, 6, "happens-twice"],
    ["not at all", 10, 8, 10, "lost"],
    ["in another direction", 10, 8, 12, "lost"],
    ["although it should not", 8, 8, 6, "happens-twice"],
  ] as const)("reports a number that moved %s", (_, before, expected, found, kind) => {
    const stock = (pieces: number) => item({ id: "stock", unit: "box", pieces });

    expect(wordsOf([stock(expected)], [stock(found)], [stock(before)])).toEqual([
      [kind, `pieces is ${found} instead of ${expected} in an item in orders`],
    ]);
  });

  it("reports a different string", () => {
    const changed = item({ id: "a", sku: "coffee", pieces: 2 });

    expect(wordsOf([tea], [changed])).toEqual([
      ["differs", 'sku is "coffee" instead of "tea" in an item in orders'],
    ]);
  });

  it("43.5: recognizes an item by its key, however many of its numbers moved", () => {
    const rating = (reviews: number, stars: number): KeyedEffect => ({
      ...item({ product: "tea", reviews, stars }),
      keyNames: ["product"],
    });

    expect(wordsOf([rating(1, 5)], [rating(2, 10)])).toEqual([
      ["happens-twice", "reviews is 2 instead of 1, stars is 10 instead of 5 in an item in orders"],
    ]);
  });

  it("43.5: pairs items of the same key first, then those that are alike", () => {
    const of = (id: string, state: string): KeyedEffect => ({
      ...item({ id, state, unit: "box" }),
      keyNames: ["id"],
    });

    expect(wordsOf([of("a", "new"), of("b", "new")], [of("b", "old"), of("a", "old")])).toEqual([
      ["differs", 'state is "old" instead of "new" in an item in orders'],
      ["differs", 'state is "old" instead of "new" in an item in orders'],
    ]);
  });

  it.each([
    ["appended to twice", ["tea"], ["tea", "tea"], "happens-twice"],
    ["not appended to", ["tea", "milk"], ["tea"], "lost"],
    ["made of other values", ["tea"], ["milk", "milk"], "differs"],
  ] as const)("43.5: reports a list that was %s", (_, expected, found, kind) => {
    const cart = (lines: readonly string[]) =>
      item({ id: "c", unit: "box", owner: "ann", lines: [...lines] });

    expect(wordsOf([cart(expected)], [cart(found)]).map(([each]) => each)).toEqual([kind]);
  });

  it("keeps items of other tables apart", () => {
    const elsewhere = item(tea.content, "archive");

    expect(wordsOf([tea], [elsewhere])).toEqual([
      ["lost", "no item in orders instead of 1"],
      ["happens-twice", "1 item in archive instead of none"],
    ]);
  });

  it("sees no difference in another order", () => {
    const other = item({ id: "b", sku: "milk", pieces: 1 });

    expect(wordsOf([tea, other], [other, tea])).toEqual([]);
  });

  it("masks values that differ between undisturbed runs, and counts them anyway", () => {
    const order = (id: string) => item({ tenant: "acme", id });
    const volatile = new VolatileValues(observed([order("x")]), observed([order("y")]));

    expect(compareEffects([order("x")], [order("z")], volatile)).toEqual([]);
    expect(compareEffects([order("x")], [order("x"), order("z")], volatile)).toMatchObject([
      { kind: "happens-twice" },
    ]);
  });
});
