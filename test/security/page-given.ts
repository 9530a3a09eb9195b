// docs/operate/security.md: what people write, and in it a table of the bad inputs that the tests tried.
import type { Suite, Tally } from "./world.ts";

const BEGIN = "<!-- made by the tests: npx vitest run test/security -u -->";
const END = "<!-- end -->";

export interface Tried {
  readonly suite: Pick<Suite, "title" | "what" | "promise">;
  readonly tally: Pick<Tally, "tried" | "refused" | "accepted">;
}

/** The page with the table as it has to be. */
export function withTable(page: string, tried: readonly Tried[]): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/operate/security.md has no ${BEGIN} … ${END}`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${tableOf(tried)}\n\n${page.slice(end)}`;
}

function tableOf(tried: readonly Tried[]): string {
  const rows = tried.map(({ suite, tally }) =>
    row(
      suite.title,
      counted(tally.tried),
      counted(tally.refused),
      counted(tally.accepted),
      suite.what,
      suite.promise,
    ),
  );
  const sum = (of: (tally: Tried["tally"]) => number) =>
    counted(tried.reduce((all, { tally }) => all + of(tally), 0));
  return [
    row("", "tried", "refused", "accepted", "what is tried", "what must hold"),
    "|---|---|---|---|---|---|",
    ...rows,
    row(
      "all",
      sum(({ tried }) => tried),
      sum(({ refused }) => refused),
      sum(({ accepted }) => accepted),
      "",
      "",
    ),
  ].join("\n");
}

const row = (...cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const counted = (count: number) => count.toLocaleString("en-US");
