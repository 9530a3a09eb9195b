import { describe, expect, it } from "vitest";
import { shareOut } from "../../../show/demo/share-out.ts";

const countOf = (kinds: readonly string[], wanted: string) => kinds.filter((kind) => kind === wanted).length;

describe("shareOut", () => {
  it("gives each kind its share", () => {
    const kinds = shareOut(200, { rare: { share: 0.1 }, common: { share: 0.9 } });

    expect([countOf(kinds, "rare"), countOf(kinds, "common")]).toEqual([20, 180]);
  });

  it("gives each kind one, however small its share is", () => {
    const kinds = shareOut(5, { rare: { share: 0.01 }, common: { share: 0.99 } });

    expect([countOf(kinds, "rare"), countOf(kinds, "common")]).toEqual([1, 4]);
  });

  it("gives a kind no more than its limit", () => {
    const kinds = shareOut(200, { slow: { share: 0.5, most: 7 }, quick: { share: 0.5 } });

    expect([countOf(kinds, "slow"), countOf(kinds, "quick")]).toEqual([7, 193]);
  });

  it("gives a kind at least its requested share, as long as every other kind keeps one", () => {
    const shares = { rare: { share: 0.01, least: 3 }, common: { share: 0.98 }, other: { share: 0.01 } };
    const countsOf = (count: number) => {
      const kinds = shareOut(count, shares);
      return Object.keys(shares).map((kind) => countOf(kinds, kind));
    };

    expect(countsOf(20)).toEqual([3, 16, 1]);
    expect(countsOf(4)).toEqual([2, 1, 1]);
  });

  it("begins with the first kinds if there is not enough for all", () => {
    expect(shareOut(1, { first: { share: 0.1 }, second: { share: 0.9 } })).toEqual(["first"]);
    expect(shareOut(0, { first: { share: 1 } })).toEqual([]);
  });
});
