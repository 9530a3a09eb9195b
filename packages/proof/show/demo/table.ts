// The table at the end: a column for each way the plan was played. Pure.
import { type Look, PLAIN } from "./look.ts";

export interface Row {
  readonly name: string;
  readonly count: number;
  readonly meaning: string;
  /** Any other count is wrong. @default - no count is */
  readonly due?: number;
  /** Counts something that only onceonly has, such as a relay. @default false */
  readonly isOurs?: boolean;
}

/** Rows of one part of the way from the request to the payment. */
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** The same sections, as each way of playing filled them. */
export interface Columns {
  readonly onceonly?: readonly Section[] | undefined;
  readonly without?: readonly Section[] | undefined;
}

interface Cell {
  readonly text: string;
  readonly isRight?: boolean;
}

export function formatTable(columns: Columns, look: Look = PLAIN): string {
  const heads = (["onceonly", "without"] as const).filter((head) => columns[head]);
  const [first = []] = heads.map((head) => columns[head]!);
  const nameWidth = Math.max(...first.flatMap(({ rows }) => rows.map(({ name }) => name.length)));
  const widths = heads.map((head) =>
    Math.max(
      head.length,
      ...columns[head]!.flatMap(({ rows }) => rows.map((row) => cellOf(head, row).text.length)),
    ),
  );
  const lineOf = (section: number, row: number) => {
    const { name, meaning } = first[section]!.rows[row]!;
    const cells = heads.map((head, index) => {
      const { text, isRight } = cellOf(head, columns[head]![section]!.rows[row]!);
      const padded = text.padStart(widths[index]!);
      return isRight === undefined ? padded : look.paint(isRight ? "green" : "red", padded);
    });
    return ["", name.padEnd(nameWidth), ...cells, look.paint("dim", meaning)].join("  ");
  };
  const head = ["", " ".repeat(nameWidth), ...heads.map((name, index) => name.padStart(widths[index]!))];
  const sections = first.flatMap(({ title, rows }, section) => [
    look.paint("bold", title),
    ...rows.map((_, row) => lineOf(section, row)),
  ]);
  return [look.paint("bold", head.join("  ")), ...sections].join("\n");
}

function cellOf(head: keyof Columns, { count, due, isOurs }: Row): Cell {
  if (isOurs && head === "without") return { text: "–" };
  return { text: String(count), ...(due !== undefined && { isRight: count === due }) };
}
