// docs/proof/hazards.md: a table that people write, and below it a list of tests that is made from their titles.
import type { RowTitle } from "./given.ts";

export const NUMBERS: readonly number[] = Array.from({ length: 98 }, (_, index) => index + 1);

interface Row {
  readonly number: number;
  /** `proved`, `partly: what is missing`, or `open: why`. */
  readonly status: string;
}

/** What is wrong with the page, a sentence each. */
export function faultsOf(page: string, titles: readonly RowTitle[]): string[] {
  const rows = tableRows(page);
  return [
    ...numbersFaults(rows.map(({ number }) => number)),
    ...rows.filter(({ number }) => NUMBERS.includes(number)).flatMap((row) => statusFaults(row, titles)),
    ...titles.filter(({ row }) => !NUMBERS.includes(row)).map((title) => `no such row: ${lineOf(title)}`),
    ...listFaults(listedTitles(page), titles),
  ];
}

function numbersFaults(given: readonly number[]): string[] {
  const timesOf = (number: number) => given.filter((other) => other === number).length;
  return [
    ...NUMBERS.filter((number) => timesOf(number) !== 1).map(
      (number) => `H${number} has ${timesOf(number)} rows`,
    ),
    ...given.filter((number) => !NUMBERS.includes(number)).map((number) => `there is no H${number}`),
  ];
}

function statusFaults({ number, status }: Row, titles: readonly RowTitle[]): string[] {
  const [, word, reason] = /^(proved|partly|open)(?:: (.*\S))?$/.exec(status) ?? [];
  if (word === undefined) return [`H${number} is neither proved nor partly nor open: ${status}`];
  if (word !== "proved" && reason === undefined) return [`H${number} is ${word} without a reason`];
  const isNamed = titles.some(({ row }) => row === number);
  return word === "open" || isNamed ? [] : [`H${number} is ${word}, but no test names it`];
}

function listFaults(listed: readonly RowTitle[], titles: readonly RowTitle[]): string[] {
  const [inList, inTests] = [new Set(listed.map(lineOf)), new Set(titles.map(lineOf))];
  return [
    ...[...inTests].filter((line) => !inList.has(line)).map((line) => `not listed: ${line}`),
    ...[...inList]
      .filter((line) => !inTests.has(line))
      .map((line) => `listed, but there is no test: ${line}`),
  ];
}

const lineOf = ({ row, file, text }: RowTitle) => `H${row} ${file} ${text}`;

function tableRows(page: string): Row[] {
  return [...page.matchAll(/^\| (?:<a id="h\d+"><\/a>)?H(\d+) \|.*\| ([^|]*) \|$/gm)].map(
    ([, number, status = ""]) => ({ number: Number(number), status: status.trim() }),
  );
}

/** The list of tests, a section for each row. */
export function testList(titles: readonly RowTitle[]): string {
  const rows = [...new Set(titles.map(({ row }) => row))].sort((left, right) => left - right);
  return rows.map((row) => `### Tests of H${row}\n\n${fileList(titles, row)}`).join("\n\n");
}

function fileList(titles: readonly RowTitle[], row: number): string {
  const ofRow = titles.filter((title) => title.row === row);
  return [...new Set(ofRow.map(({ file }) => file))]
    .map((file) => {
      const texts = ofRow.filter((title) => title.file === file).map(({ text }) => `  - ${text}`);
      return [`- \`${file}\``, ...new Set(texts)].join("\n");
    })
    .join("\n");
}

function listedTitles(page: string): RowTitle[] {
  let [row, file] = [0, ""];
  return page.split("\n").flatMap((line) => {
    const [, number] = /^### Tests of H(\d+)$/.exec(line) ?? [];
    if (number !== undefined) row = Number(number);
    file = /^- `((?:test|packages)\/[^`]+)`$/.exec(line)?.[1] ?? file;
    const text = /^ {2}- (.+)$/.exec(line)?.[1];
    return row > 0 && text !== undefined ? [{ row, file, text }] : [];
  });
}
