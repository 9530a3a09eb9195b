import { describe, expect, it } from "vitest";
import { Gatherer } from "../../lib/dynamodb/gatherer.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";

function givenGatherer(limit = 25) {
  const clock = fakeClock();
  const groups: (readonly string[])[] = [];
  const ends: (() => void)[] = [];
  const gatherer = new Gatherer<string>(clock, limit, (members) => {
    groups.push(members.map(({ input }) => input));
    for (const { resolve } of members) resolve("answer" as never);
    return new Promise((resolve) => ends.push(resolve));
  });
  return { clock, groups, gatherer, endFirst: () => ends.shift()?.() };
}

/** Somebody whose next request comes some promises later. */
async function askLater(gatherer: Gatherer<string>, input: string, promises: number) {
  for (let nth = 0; nth < promises; nth++) await undefined;
  return gatherer.ask(input);
}

describe("Gatherer", () => {
  it("sends together what is requested in one turn, however many promises later", async () => {
    const { groups, gatherer } = givenGatherer();

    await Promise.all(["a", "b", "c"].map((input, index) => askLater(gatherer, input, index * 10)));

    expect(groups).toEqual([["a", "b", "c"]]);
  });

  it("sends a full group immediately, and the rest in another", async () => {
    const { groups, gatherer } = givenGatherer(2);

    await Promise.all(["a", "b", "c"].map((input) => gatherer.ask(input)));

    expect(groups).toEqual([["a", "b"], ["c"]]);
  });

  it("gathers during a group under way until that is over", async () => {
    const { groups, gatherer, clock, endFirst } = givenGatherer();
    await gatherer.ask("a");

    const behind = [gatherer.ask("b")];
    await clock.advance(10);
    behind.push(gatherer.ask("c"));
    expect(groups).toEqual([["a"]]);
    endFirst();
    await Promise.all(behind);

    expect(groups).toEqual([["a"], ["b", "c"]]);
    expect(clock.sleepers).toBe(0);
  });

  it("waits no longer than 20 ms for a group that hangs", async () => {
    const { groups, gatherer, clock } = givenGatherer();
    await gatherer.ask("a");

    const behind = gatherer.ask("b");
    await clock.advance(19);
    expect(groups).toEqual([["a"]]);
    await clock.advance(1);
    await behind;

    expect(groups).toEqual([["a"], ["b"]]);
  });

  it("sends immediately what can't wait, along with what waits", async () => {
    const { groups, gatherer, clock } = givenGatherer();
    await gatherer.ask("a");

    const behind = [gatherer.ask("b"), gatherer.ask("c", { waits: false })];
    await Promise.all(behind);

    expect(groups).toEqual([["a"], ["b", "c"]]);
    await clock.advance(20);
    expect(groups).toHaveLength(2);
  });

  it("R1: lets members wait for their own time, although earlier ones began to wait and have left", async () => {
    const { groups, gatherer, clock, endFirst } = givenGatherer();
    await gatherer.ask("a");
    const early = gatherer.ask("b");
    await clock.advance(10);
    await gatherer.ask("c", { waits: false });
    await early;

    const late = [gatherer.ask("d")];
    await clock.advance(10);
    late.push(gatherer.ask("e"));
    expect(groups).toEqual([["a"], ["b", "c"]]);
    endFirst();
    endFirst();
    await Promise.all(late);

    expect(groups).toEqual([["a"], ["b", "c"], ["d", "e"]]);
  });
});
