// The table of docs/guides/migrate-from-powertools.md that says of each behaviour whether it is the same, and by which test.
import { type TestFile, titlesOf } from "./given.ts";

interface Row {
  readonly behaviour: string;
  readonly status: string;
  readonly onceonly: string;
  /** Texts such as `core/run-once.test.ts` "runs once", with the path from test/. */
  readonly shownBy: string;
}

/** Its tests fail as soon as what they name is no longer missing. */
const SHOWS_MISSING = "migrating/missing.test.ts";
const REFERENCE = /`([\w./-]+\.ts)` "([^"]+)"/g;

/** What is wrong with the table, a sentence each. */
export function behaviourFaults(page: string, files: readonly TestFile[]): string[] {
  const rows = rowsOf(page);
  if (rows.length === 0) return ["there is no table below ## Behaviours"];
  return rows.flatMap((row) => {
    const references = [...row.shownBy.matchAll(REFERENCE)];
    const told = (fault: string) => `${row.behaviour}: ${fault}`;
    return [
      ...statusFaults(row, references.length).map(told),
      ...(row.status === "missing" && references.every(([, path]) => path !== SHOWS_MISSING)
        ? [told(`missing, but no test of ${SHOWS_MISSING} is named`)]
        : []),
      ...references.flatMap(([, path = "", title = ""]) => referenceFaults(files, path, title)).map(told),
      ...(row.shownBy.replaceAll(REFERENCE, "").replaceAll(/[;\s]/g, "") === ""
        ? []
        : [told("names a test wrongly")]),
    ];
  });
}

function statusFaults({ status, onceonly }: Row, references: number): string[] {
  if (status === "same") return references > 0 ? [] : ["same, but no test is named"];
  if (status !== "different" && status !== "missing")
    return [`neither same nor different nor missing: ${status}`];
  return onceonly === "" ? [`${status}, and nothing is said of it`] : [];
}

function referenceFaults(files: readonly TestFile[], path: string, title: string): string[] {
  const file = files.find((each) => each.path === `test/${path}`);
  if (file === undefined) return [`there is no test/${path}`];
  return titlesOf(file).includes(title) ? [] : [`test/${path} has no test "${title}"`];
}

function rowsOf(page: string): Row[] {
  const [, section = ""] = /^## Behaviours\n(.*?)(?=^## )/ms.exec(`${page}\n## `) ?? [];
  return section
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| Powertools |"))
    .map((line) => {
      const [, behaviour = "", status = "", onceonly = "", shownBy = ""] = line
        .split("|")
        .map((cell) => cell.trim());
      return { behaviour, status, onceonly, shownBy };
    });
}
