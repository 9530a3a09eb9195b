// One scenario of docs/proof/comparison.md: the events, and what each contestant did. Pure.
import { markdownTable } from "../../measure/report/markdown.ts";
import type { Observation, Observed } from "./compare.ts";
import type { Scenario } from "./scenario.ts";
import type { Seen } from "./seen.ts";

interface Column {
  readonly title: string;
  readonly seen: Seen;
}

export function titleOf({ hazards, title }: Scenario): string {
  return hazards.length === 0 ? title : `${hazards.join(", ")}: ${title}`;
}

export function scenarioSection({ scenario, observations }: Observed): string {
  const columns = columnsOf(observations);
  const cells = (show: (seen: Seen) => string) => columns.map(({ seen }) => show(seen));
  const table = markdownTable([
    ["", ...columns.map(({ title }) => title)],
    ["effects", ...cells(({ effects }) => String(effects))],
    ...scenario.calls.map((call, nth) => [call, ...cells(({ answers }) => asCode(answers[nth]))]),
    ...scenario.wishes.map(({ words, holds }) => [
      `*${words}*`,
      ...cells((seen) => (holds(seen) ? "yes" : "**no**")),
    ]),
  ]);
  const parts = [`### ${titleOf(scenario)}`, scenario.deed, table];
  return [...parts, ...(scenario.note === undefined ? [] : [scenario.note])].join("\n\n");
}

/** One column for both adapters of a package that did the same. */
function columnsOf(observations: readonly Observation[]): readonly Column[] {
  return ["onceonly", "Powertools"].flatMap((name) => {
    const adapters = observations.filter((observation) => observation.package === name);
    const [first] = adapters;
    if (first === undefined) return [];
    const isSame = adapters.every(({ seen }) => JSON.stringify(seen) === JSON.stringify(first.seen));
    if (isSame) return [{ title: name, seen: first.seen }];
    return adapters.map(({ adapter, seen }) => ({ title: `${name}, ${adapter}`, seen }));
  });
}

function asCode(answer = ""): string {
  return /^[\w– ]*$/.test(answer) && !answer.startsWith("throws ") ? answer : `\`${answer}\``;
}
