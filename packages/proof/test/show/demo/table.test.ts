import { describe, expect, it } from "vitest";
import { lookOn } from "../../../show/demo/look.ts";
import { formatTable } from "../../../show/demo/table.ts";

const row = (name: string, count: number, others: object = {}) => ({
  name,
  count,
  meaning: "why",
  ...others,
});

describe("formatTable", () => {
  it("aligns names to the left and counts to the right, over all sections", () => {
    const onceonly = [
      { title: "one", rows: [row("kills", 9)] },
      { title: "other", rows: [row("requests", 512)] },
    ];

    expect(formatTable({ onceonly }).split("\n")).toEqual([
      "            onceonly",
      "one",
      "  kills            9  why",
      "other",
      "  requests       512  why",
    ]);
  });

  it("has a second column for the run without onceonly, empty for what only onceonly has", () => {
    const columnOf = (orders: number) => [
      { title: "effects", rows: [row("orders", orders), row("relay kills", 0, { isOurs: true })] },
    ];

    expect(formatTable({ onceonly: columnOf(120), without: columnOf(309) }).split("\n")).toEqual([
      "               onceonly  without",
      "effects",
      "  orders            120      309  why",
      "  relay kills         0        –  why",
    ]);
    expect(formatTable({ without: columnOf(309) })).not.toContain("onceonly");
  });

  it("paints right counts green and wrong ones red on a terminal, and nothing elsewhere", () => {
    const columnOf = (orders: number) => [{ title: "effects", rows: [row("orders", orders, { due: 120 })] }];
    const columns = { onceonly: columnOf(120), without: columnOf(309) };

    const painted = formatTable(columns, lookOn({ isTTY: true }, {}));

    expect(painted).toContain("\x1b[32m     120\x1b[39m");
    expect(painted).toContain("\x1b[31m    309\x1b[39m");
    for (const look of [lookOn({}, {}), lookOn({ isTTY: true }, { NO_COLOR: "1" })]) {
      expect(formatTable(columns, look)).toBe(formatTable(columns));
      expect(look.tick + look.cross).toBe("");
    }
  });
});
