// Checks the rows of powertools-rows.ts, and makes the tables of docs/reference/powertools.md and its guide from them.
import { type TestFile, titlesOf } from "./given.ts";
import type { Behaviour, Gain, Proof } from "./powertools-rows.ts";

/** Its tests fail as soon as what they name is no longer missing. */
const SHOWS_MISSING = "migrating/missing.test.ts";
/** Their tests ask the installed Powertools. */
const ASK_POWERTOOLS = ["migrating/different.test.ts", "migrating/gained.test.ts"];

/** What is wrong with the rows, a sentence each. */
export function behaviourFaults(rows: readonly Behaviour[], files: readonly TestFile[]): string[] {
  return rows.flatMap((row) => {
    const faults = [...statusFaults(row), ...proofFaults(row.shownBy, files)];
    return faults.map((fault) => `${row.powertools}: ${fault}`);
  });
}

/** What is wrong with the rows about what users gain. */
export function gainFaults(rows: readonly Gain[], files: readonly TestFile[]): string[] {
  return rows.flatMap((row) => {
    const asksPowertools = row.shownBy.some(([path]) => ASK_POWERTOOLS.includes(path));
    const faults = [
      ...(asksPowertools ? [] : [`no test of ${ASK_POWERTOOLS.join(" or ")} is named`]),
      ...proofFaults(row.shownBy, files),
    ];
    return faults.map((fault) => `${row.when}: ${fault}`);
  });
}

function statusFaults({ status, onceonly, shownBy }: Behaviour): string[] {
  return [
    ...(shownBy.length === 0 ? [`${status}, but no test is named`] : []),
    ...(status !== "same" && onceonly === ""
      ? [`${status}, but the page doesn't say what onceonly does`]
      : []),
    ...(status === "missing" && shownBy.every(([path]) => path !== SHOWS_MISSING)
      ? [`missing, but no test of ${SHOWS_MISSING} is named`]
      : []),
  ];
}

function proofFaults(proofs: readonly Proof[], files: readonly TestFile[]): string[] {
  return proofs.flatMap(([path, title]) => {
    const file = files.find((each) => each.path === `test/${path}`);
    if (file === undefined) return [`there is no test/${path}`];
    return titlesOf(file).includes(title) ? [] : [`test/${path} has no test "${title}"`];
  });
}

export function behaviourTables(groups: Readonly<Record<string, readonly Behaviour[]>>): string {
  return Object.entries(groups)
    .map(([title, rows]) =>
      [
        `### ${title}\n`,
        "| Powertools | | onceonly | shown by, in `test/` |",
        "|---|---|---|---|",
        ...rows.map(({ powertools, status, onceonly, shownBy }) =>
          tableRow(powertools, status, onceonly, proofList(shownBy)),
        ),
      ].join("\n"),
    )
    .join("\n\n");
}

/** For readers who want the list, not the tests. */
export function gainTable(rows: readonly Gain[]): string {
  return [
    "| when | Powertools | onceonly |",
    "|---|---|---|",
    ...rows.map(({ when, powertools, onceonly }) => tableRow(when, powertools, onceonly)),
  ].join("\n");
}

export function gainProofs(rows: readonly Gain[]): string {
  return [
    "| when | shown by, in `test/` |",
    "|---|---|",
    ...rows.map(({ when, shownBy }) => tableRow(when, proofList(shownBy))),
  ].join("\n");
}

const tableRow = (...cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const proofList = (proofs: readonly Proof[]) =>
  proofs.map(([path, title]) => `\`${path}\` "${title}"`).join("; ");
