import { describe, expect, it } from "vitest";
import { capacityTable, costTable } from "../../../measure/report/capacity-table.ts";
import { costPerMillion } from "../../../measure/report/prices.ts";

const FIRST_RUN = { requests: 2, writeUnits: 2, readUnits: 0 };

describe("costPerMillion", () => {
  it("charges write units and read units, and no requests", () => {
    expect(costPerMillion(FIRST_RUN)).toBe(1.25);
    expect(costPerMillion({ requests: 2, writeUnits: 1, readUnits: 4 })).toBe(1.125);
  });
});

describe("costTable", () => {
  const paths = [
    { name: "both", onceonly: FIRST_RUN, powertools: FIRST_RUN, powertoolsRemark: undefined },
    { name: "ours alone", onceonly: FIRST_RUN, powertools: undefined, powertoolsRemark: undefined },
    { name: "theirs differs", onceonly: FIRST_RUN, powertools: FIRST_RUN, powertoolsRemark: "refused" },
  ];

  it("shows what a million calls cost on both sides, and a dash for a path that the peer lacks", () => {
    expect(costTable(paths).split("\n").slice(2)).toEqual([
      "| both | $1.25 | $1.25 |",
      "| ours alone | $1.25 | – |",
      "| theirs differs | $1.25 | $1.25 (refused) |",
    ]);
  });

  it("has the rows of the table of requests", () => {
    const names = (table: string) => table.split("\n").map((line) => line.split(" | ")[0]);

    expect(names(costTable(paths)).slice(2)).toEqual(names(capacityTable(paths)).slice(2));
  });
});
