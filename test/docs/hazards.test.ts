// docs/proof/hazards.md lists every row once, and for each one the tests that name it. To write the list anew:
// npx vitest run test/docs -u
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectGenerated, withGenerated } from "../kit/generated.ts";
import { root } from "../kit/project.ts";
import { type RowTitle, rowTitles, testFiles } from "./given.ts";
import { faultsOf, NUMBERS, testList } from "./hazards-given.ts";

const page = "docs/proof/hazards.md";

describe("docs/proof/hazards.md", () => {
  it("has a row for each hazard, and lists each test that names one", async () => {
    const titles = rowTitles(testFiles());
    const parts = { tests: testList(titles) };

    expect(faultsOf(withGenerated(readFileSync(join(root, page), "utf8"), parts), titles)).toEqual([]);
    await expectGenerated(page, parts);
  });
});

it("docs/proof/index.md counts the hazards by status", () => {
  const rows = readFileSync(join(root, page), "utf8").match(/^\| H\d+ .*\|$/gm) ?? [];
  const count = (status: string) => rows.filter((row) => row.includes(`| ${status}`)).length;
  const [proved, partly, open] = [count("proved |"), count("partly: "), count("open: ")];

  expect(readFileSync(join(root, "docs/proof/index.md"), "utf8")).toContain(
    `${NUMBERS.length} hazards: ${proved} proved, ${partly} partly, ${open} open`,
  );
});

describe("faultsOf", () => {
  const TITLES: readonly RowTitle[] = NUMBERS.map((row) => ({
    row,
    file: "test/core/a.test.ts",
    text: `does what H${row} asks for`,
  }));
  const rowOf = (row: number, status = "proved") => `| H${row} | a hazard | a measure | ${status} |`;
  const table = (change: (row: number) => readonly string[]) => NUMBERS.flatMap(change);
  const pageOf = (rows: readonly string[], titles = TITLES) =>
    withGenerated([...rows, "<!-- generated: tests -->", "<!-- end -->"].join("\n"), {
      tests: testList(titles),
    });
  const with8 = (...rows: readonly string[]) => pageOf(table((row) => (row === 8 ? rows : [rowOf(row)])));

  it("finds nothing wrong with a page that lists everything", () => {
    expect(faultsOf(with8(rowOf(8)), TITLES)).toEqual([]);
    expect(faultsOf(with8(rowOf(8, "partly: one half")), TITLES)).toEqual([]);
    expect(faultsOf(with8(rowOf(8, "open: next")), TITLES)).toEqual([]);
  });

  it.each([
    ["a row that is missing", with8(), "H8 has 0 rows"],
    ["a row that is there twice", with8(rowOf(8), rowOf(8)), "H8 has 2 rows"],
    ["a row of no hazard", with8(rowOf(8), rowOf(99)), "there is no H99"],
    [
      "a row whose status is no status",
      with8(rowOf(8, "done")),
      "H8 is neither proved nor partly nor open: done",
    ],
    [
      "an open row without a reason",
      with8(rowOf(8, "open:")),
      "H8 is neither proved nor partly nor open: open:",
    ],
    ["an open row that says nothing else", with8(rowOf(8, "open")), "H8 is open without a reason"],
    [
      "a row that does not say which part is missing",
      with8(rowOf(8, "partly")),
      "H8 is partly without a reason",
    ],
  ])("finds %s", (_, faulty, fault) => {
    expect(faultsOf(faulty, TITLES)).toEqual([fault]);
  });

  it("finds a row without a test, unless it is open", () => {
    const others = TITLES.filter(({ row }) => row !== 8);
    const withStatus = (status: string) =>
      pageOf(
        table((row) => [rowOf(row, row === 8 ? status : "proved")]),
        others,
      );

    expect(faultsOf(withStatus("proved"), others)).toEqual(["H8 is proved, but no test names it"]);
    expect(faultsOf(withStatus("partly: one half"), others)).toEqual(["H8 is partly, but no test names it"]);
    expect(faultsOf(withStatus("open: next"), others)).toEqual([]);
  });

  it("finds a test that is not listed, and one that is listed and not there", () => {
    const added = { row: 8, file: "test/core/b.test.ts", text: "is new" };
    const listing = pageOf(table((row) => [rowOf(row)]));

    expect(faultsOf(listing, [...TITLES, added])).toEqual(["not listed: H8 test/core/b.test.ts is new"]);
    expect(faultsOf(listing, [...TITLES, { ...added, row: 99 }])).toContain(
      "no such row: H99 test/core/b.test.ts is new",
    );
    expect(faultsOf(listing, TITLES.slice(1))).toEqual([
      "H1 is proved, but no test names it",
      "listed, but there is no test: H1 test/core/a.test.ts does what H1 asks for",
    ]);
  });
});

describe("rowTitles", () => {
  const titlesIn = (source: string) => rowTitles([{ path: "test/a.test.ts", source }]);

  it.each([
    ['it("H8: wins its own claim", () => {})', [[8, "wins its own claim"]]],
    [`it(\`H8: lost \${times} times\`, () => {})`, [[8, "lost … times"]]],
    ['it.each([one])("H8: $name wins", run)', [[8, "… wins"]]],
    ['it.each([1])(\n  "H8: lost %i times",\n  () => {})', [[8, "lost … times"]]],
    [`const title = \`H8: \${name}\`;`, [[8, "…"]]],
    [
      '[["H1, H12: both", run]]',
      [
        [1, "both"],
        [12, "both"],
      ],
    ],
    ['const cases = { title: "H8: of a case", run }', [[8, "of a case"]]],
    ["it('H8: says \"no\"', () => {})", [[8, 'says "no"']]],
    ['it("H8: says \\"no\\"", () => {})', [[8, 'says "no"']]],
    // What else may hold such a text is no test.
    ['const DIFFERENCES = { "H8: wins its own claim": "does not" };', []],
    ['it("wins its own claim, as H8 asks for", () => {})', []],
    ["// H8: not a test", []],
  ])("reads %j", (source, expected) => {
    expect(titlesIn(source).map(({ row, text }) => [row, text])).toEqual(expected);
  });
});
