// docs/proof/comparison.md as a whole. Pure: the same observations give the same text; no time and no date is in it.
import { markdownTable } from "../../measure/report/markdown.ts";
import type { Comparison, Observation, Observed } from "./compare.ts";
import { costTable } from "./cost-table.ts";
import { durableSection } from "./durable/section.ts";
import type { Scenario } from "./scenario.ts";
import { scenarioSection, titleOf } from "./scenario-section.ts";

export function comparisonDocument({ versions, groups, costs, smallerBundles, durable }: Comparison): string {
  const all = Object.values(groups).flat();
  const versionList = Object.entries(versions).map((entry) => entry.join(" "));
  return `# onceonly and Powertools idempotency, side by side

What onceonly and Powertools for AWS Lambda do in the same scenarios.

Written by \`npm run compare\`; do not edit. It runs a function with onceonly and one with
\`@aws-lambda-powertools/idempotency\` through the same events, on the same engines in the same run. The versions:
${versionList.join(", ")}. The tests repeat the run on both engines, and fail if their results differ from this page.

## How to read it

- An effect happens outside the package and can't be undone: the handler creates order 1, then order 2. Each row shows what a caller
  got: an answer, or \`throws\` with the name of the error.
- Each scenario has wishes: what the owner of such a function would want to see. The same code checks them for
  every contestant.
- Both packages are set up as their documentation recommends, with the same settings for tables and the SDK client. With
  Powertools the key is required, the payload is validated against it, and the Lambda context is registered. A scenario
  about a default or a mistake says so.
- Both packages have a wrapper (\`idempotent\`, \`makeIdempotent\`) and a Middy middleware (\`idempotency\`,
  \`makeHandlerIdempotent\`). They share a column if they behave the same.
- We, the authors of onceonly, chose the scenarios from a list of events that are known to break such packages. So this is
  a list of hazards, not a sample of an ordinary week. Ordinary events come first.

The clock is simulated. A proxy between the SDK and the engine loses responses and rejects writes. For costs
and speed, see [benchmarks.md](benchmarks.md); to switch, see
[migrate-from-powertools.md](../guides/migrate-from-powertools.md).

## All of it at a glance

How often the effect happened, and how many wishes were met.

${summaryTable(all)}

${verdicts(all).join("\n")}

${Object.entries(groups)
  .map(([name, group]) => `## ${name}\n\n${group.map(scenarioSection).join("\n\n")}`)
  .join("\n\n")}

${durableSection(durable)}
## What they cost

Requests and capacity units of the same paths; [benchmarks.md](benchmarks.md) has the numbers.

${costTable(costs)}

Which middleware, with its DynamoDB store, has the smaller bundle:

${markdownTable([["", "fewer bytes"], ...Object.entries(smallerBundles).map((entry) => [...entry])])}
`;
}

function summaryTable(all: readonly Observed[]): string {
  const header =
    all[0]?.observations.map((observation) => `${observation.package}, ${observation.adapter}`) ?? [];
  const rows = all.map(({ scenario, observations }) => [
    `[${titleOf(scenario)}](#${anchorOf(titleOf(scenario))})`,
    ...observations.map(
      ({ seen }) => `${seen.effects} · ${held(scenario, seen)} of ${scenario.wishes.length}`,
    ),
  ]);
  return markdownTable([["effects · wishes", ...header], ...rows]);
}

function verdicts(all: readonly Observed[]): string[] {
  return (["wrapper", "middleware"] as const).map((adapter) => {
    const counts = { onceonly: 0, Powertools: 0, both: 0 };
    for (const { scenario, observations } of all) {
      const [own = 0, peer = 0] = (["onceonly", "Powertools"] as const).map((name) => {
        const found = observations.find(
          (observation) => observation.package === name && observation.adapter === adapter,
        );
        return found === undefined ? 0 : held(scenario, found.seen);
      });
      counts[own === peer ? "both" : own > peer ? "onceonly" : "Powertools"]++;
    }
    const { onceonly, Powertools, both } = counts;
    return `- ${adapter} against ${adapter}: equally many wishes were met in ${both} scenarios, more with onceonly in ${onceonly}, more with Powertools in ${Powertools}.`;
  });
}

function held({ wishes }: Scenario, seen: Observation["seen"]): number {
  return wishes.filter(({ holds }) => holds(seen)).length;
}

/** As GitHub makes anchors of headings. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
