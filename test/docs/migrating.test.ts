// docs/guides/migrate-from-powertools.md: what it calls the same, a test shows; and every test that it names is there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { behaviourFaults } from "./behaviours-given.ts";
import { testFiles } from "./given.ts";

describe("docs/guides/migrate-from-powertools.md", () => {
  it("shows each behaviour that is the same by a test", () => {
    const page = readFileSync(join(root, "docs/guides/migrate-from-powertools.md"), "utf8");

    expect(behaviourFaults(page, testFiles())).toEqual([]);
  });
});

describe("behaviourFaults", () => {
  const FILES = [
    {
      path: "test/core/a.test.ts",
      source: `it("H8: runs once", () => {});\nit.each([1])(\n  \`replays \${value}\`,\n  () => {},\n);\nconst text = "no test";`,
    },
    { path: "test/migrating/missing.test.ts", source: 'it("has no cache", () => {});' },
  ];
  const faultsOf = (...rows: readonly string[]) =>
    behaviourFaults(
      [
        "# Page",
        "## Behaviours",
        "| Powertools | | onceonly | shown by |",
        "|---|---|---|---|",
        ...rows,
        "## Next",
      ].join("\n"),
      FILES,
    );

  it.each([
    '| runs once | same | | `core/a.test.ts` "runs once" |',
    '| replays | same | too | `core/a.test.ts` "runs once"; `core/a.test.ts` "replays …" |',
    '| caches | missing | on purpose | `migrating/missing.test.ts` "has no cache" |',
    '| caches | different | does not | `core/a.test.ts` "runs once" |',
  ])("finds nothing wrong with %s", (row) => {
    expect(faultsOf(row)).toEqual([]);
  });

  it.each([
    ["| runs once | same | | |", "runs once: same, but no test is named"],
    ['| a | same | | `core/b.test.ts` "runs once" |', "a: there is no test/core/b.test.ts"],
    ['| a | same | | `core/a.test.ts` "runs" |', 'a: test/core/a.test.ts has no test "runs"'],
    ['| a | same | | `core/a.test.ts` "no test" |', 'a: test/core/a.test.ts has no test "no test"'],
    ['| a | different | so | `core/a.test.ts` "gone" |', 'a: test/core/a.test.ts has no test "gone"'],
    ['| a | same | | `core/a.test.ts` "runs once"; `core/a.test.ts` |', "a: names a test wrongly"],
    [
      '| a | missing | | `migrating/missing.test.ts` "has no cache" |',
      "a: missing, and nothing is said of it",
    ],
    ["| a | missing | so | |", "a: missing, but no test of migrating/missing.test.ts is named"],
    [
      '| a | missing | so | `core/a.test.ts` "runs once" |',
      "a: missing, but no test of migrating/missing.test.ts is named",
    ],
    ["| a | different | | |", "a: different, and nothing is said of it"],
    ["| a | equal | | |", "a: neither same nor different nor missing: equal"],
  ])("finds what is wrong with %s", (row, fault) => {
    expect(faultsOf('| fine | same | | `core/a.test.ts` "runs once" |', row)).toEqual([fault]);
  });

  it("finds a page without the table", () => {
    expect(faultsOf()).toEqual(["there is no table below ## Behaviours"]);
    expect(behaviourFaults("# Page\n", FILES)).toEqual(["there is no table below ## Behaviours"]);
  });
});
