// docs/reference/powertools.md and its guide: the tables are made from powertools-rows.ts, each row is tied to a test, and nothing that
// Powertools offers is left out. Regenerate: npx vitest run test/docs/migrating.test.ts -u
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { expectGenerated } from "../kit/generated.ts";
import { root } from "../kit/project.ts";
import { POWERTOOLS_OPTIONS } from "../migrating/powertools-options.ts";
import { behaviourFaults, behaviourTables, gainFaults, gainProofs, gainTable } from "./behaviours-given.ts";
import { testFiles } from "./given.ts";
import { BEHAVIOURS, type Behaviour, GAINS, type Gain } from "./powertools-rows.ts";

const GUIDE = "docs/guides/migrate-from-powertools.md";
const REFERENCE = "docs/reference/powertools.md";
const read = (path: string) => readFileSync(join(root, path), "utf8");
const rows = Object.values(BEHAVIOURS).flat();

describe(REFERENCE, () => {
  it("shows each behaviour by a test", () => {
    expect(behaviourFaults(rows, testFiles())).toEqual([]);
  });

  it("has the tables that the rows make", async () => {
    await expectGenerated(REFERENCE, { behaviours: behaviourTables(BEHAVIOURS), gains: gainProofs(GAINS) });
  });

  it.each(Object.values(POWERTOOLS_OPTIONS).flat())("says what becomes of Powertools' `%s`", (name) => {
    expect(read(REFERENCE)).toMatch(new RegExp(`^\\|[^|]*\\b${name}\\b`, "m"));
  });
});

describe(GUIDE, () => {
  it("shows each gain by a test of Powertools itself", () => {
    expect(gainFaults(GAINS, testFiles())).toEqual([]);
  });

  it("has the table that the rows make", async () => {
    await expectGenerated(GUIDE, { gains: gainTable(GAINS) });
  });
});

describe(`S3: ${REFERENCE}`, () => {
  const lines = read(REFERENCE)
    .split("\n")
    .filter((line) => line.startsWith("| "));
  const namesIn = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);

  it("names what onceonly has in place of what Powertools has", () => {
    // Once called missing, although they were there.
    for (const [theirs, ours] of [
      ["CachePersistenceLayer", "ValkeyStore"],
      ["@idempotent", "@once(options)"],
      ["useLocalCache", "cached"],
      ["responseHook", 'returns: "outcome"'],
    ] as const) {
      const row = lines.find((line) => line.split("|")[1]?.includes(theirs) && line.includes(ours));
      expect(row ?? `${theirs} without ${ours}`).not.toMatch(/\| missing \||^\S+ without/);
    }
  });

  it("calls nothing missing but what a test looks for by its name", () => {
    const tested = read("test/migrating/missing.test.ts");
    const missing = lines.filter((line) => line.split("|")[2]?.trim() === "missing");
    const names = missing.flatMap((line) => namesIn(line.split("|")[1]));

    expect(names.length).toBeGreaterThanOrEqual(missing.length);
    expect(names.filter((name) => !tested.includes(name))).toEqual([]);
  });

  it("marks no option with a dash that onceonly has", () => {
    const dashed = lines.filter((line) => line.split("|")[2]?.trim().startsWith("–"));
    const names = dashed
      .flatMap((line) => namesIn(line.split("|")[1]))
      .filter((name) => /^[a-z]\w+$/.test(name));

    expect(names).toContain("staticPkValue");
    for (const name of names.filter((each) => each !== "md5" && each !== "registerLambdaContext"))
      for (const make of [
        () =>
          idempotent(async () => 1, { operation: "a", store: new MemoryStore(), key: () => "1", [name]: 1 }),
        () => new DynamoDBStore({ tableName: "records", [name]: 1 }),
      ])
        expect(make).toThrow(`\`${name}\` isn't an option`);
  });
});

const FILES = [
  {
    path: "test/core/a.test.ts",
    source: `it("H8: runs once", () => {});\nit.each([1])(\n  \`replays \${value}\`,\n  () => {},\n);\nconst text = "no test";`,
  },
  { path: "test/migrating/missing.test.ts", source: 'it("has no cache", () => {});' },
  { path: "test/migrating/gained.test.ts", source: 'it("emits no metrics", () => {});' },
];
const RUNS_ONCE = ["core/a.test.ts", "runs once"] as const;
const HAS_NO_CACHE = ["migrating/missing.test.ts", "has no cache"] as const;

describe("behaviourFaults", () => {
  const same: Behaviour = { powertools: "a", status: "same", onceonly: "", shownBy: [RUNS_ONCE] };
  const faultsOf = (row: Partial<Behaviour>) => behaviourFaults([same, { ...same, ...row }], FILES);

  it.each<Partial<Behaviour>>([
    {},
    { onceonly: "too", shownBy: [RUNS_ONCE, ["core/a.test.ts", "replays …"]] },
    { status: "missing", onceonly: "on purpose", shownBy: [HAS_NO_CACHE] },
    { status: "different", onceonly: "does not" },
  ])("finds nothing wrong with %j", (row) => {
    expect(faultsOf(row)).toEqual([]);
  });

  it.each<[Partial<Behaviour>, string]>([
    [{ shownBy: [] }, "a: same, but no test is named"],
    [{ status: "different", onceonly: "so", shownBy: [] }, "a: different, but no test is named"],
    [{ shownBy: [["core/b.test.ts", "runs once"]] }, "a: there is no test/core/b.test.ts"],
    [{ shownBy: [["core/a.test.ts", "runs"]] }, 'a: test/core/a.test.ts has no test "runs"'],
    [{ shownBy: [["core/a.test.ts", "no test"]] }, 'a: test/core/a.test.ts has no test "no test"'],
    [
      { status: "missing", shownBy: [HAS_NO_CACHE] },
      "a: missing, but the page doesn't say what onceonly does",
    ],
    [{ status: "missing", onceonly: "so" }, "a: missing, but no test of migrating/missing.test.ts is named"],
    [{ status: "different" }, "a: different, but the page doesn't say what onceonly does"],
  ])("finds what is wrong with %j", (row, fault) => {
    expect(faultsOf(row)).toEqual([fault]);
  });
});

describe("gainFaults", () => {
  const gain: Gain = { when: "a", powertools: "", onceonly: "", shownBy: [RUNS_ONCE] };

  it("accepts a row that a test of Powertools shows", () => {
    const shownBy = [RUNS_ONCE, ["migrating/gained.test.ts", "emits no metrics"]] as const;

    expect(gainFaults([{ ...gain, shownBy }], FILES)).toEqual([]);
  });

  it("finds a row that only tests of onceonly show, and one whose test is gone", () => {
    const shownBy = [["migrating/gained.test.ts", "has no outbox"]] as const;

    expect(gainFaults([gain, { ...gain, shownBy }], FILES)).toEqual([
      "a: no test of migrating/different.test.ts or migrating/gained.test.ts is named",
      'a: test/migrating/gained.test.ts has no test "has no outbox"',
    ]);
  });
});
