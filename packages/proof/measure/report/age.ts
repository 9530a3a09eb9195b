// How old each section's figures are, and whether the code has changed since. Pure.
import type { CodeVersions } from "../code-version.ts";
import { percent } from "./format.ts";
import { markdownTable } from "./markdown.ts";
import type { Measurement, Results, SectionName } from "./results.ts";

/** Results from before the code was recorded count as older. */
export function isOlder(name: SectionName, measured: Measurement, codes: CodeVersions): boolean {
  return measured.code !== codes[name];
}

export function ageTable(names: readonly SectionName[], results: Results, codes: CodeVersions): string {
  return markdownTable([
    ["figures", "measured on", "other work on the machine", "code"],
    ...names.map((name) => {
      const measured = results[name];
      if (!measured) return [name, "never", "", ""];
      const { day = "not recorded", busyShare } = measured;
      const busy = busyShare === undefined ? "–" : `${percent(busyShare)} of its processors`;
      return [name, day, busy, isOlder(name, measured, codes) ? "**has changed since**" : "unchanged"];
    }),
  ]);
}

const NOTE =
  "> These figures are older than the code: it has changed since they were measured, in whatever way. `npm run bench` renews them.";

/** The page of a section, with a note below its heading if its figures are older than the code. */
export function markedPage(page: string, older: boolean): string {
  return older ? page.replace(/^(## .*\n)/, `$1\n${NOTE}\n`) : page;
}

/** For the terminal: how many days ago each section was measured. */
export function agesText(
  names: readonly SectionName[],
  results: Results,
  codes: CodeVersions,
  now: number,
): string {
  return names
    .map((name) => {
      const measured = results[name];
      const days = measured?.day && Math.floor((now - Date.parse(measured.day)) / 86_400_000);
      const age = !measured ? "never measured" : days === undefined ? "age unknown" : `${days} days old`;
      const older = measured && isOlder(name, measured, codes) ? ", older than the code" : "";
      return `${name.padEnd(12)}${age}${older}`;
    })
    .join("\n");
}
