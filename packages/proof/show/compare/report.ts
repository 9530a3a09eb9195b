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

Written by \`npm run compare\`; do not edit. It does the same things to a function with onceonly and to one with
\`@aws-lambda-powertools/idempotency\`, on the same engines in the same run. The versions:
${versionList.join(", ")}. The tests run it again, on both engines, and fail when this page is not what they see.

## How to read it

- An effect is something outside that cannot be taken back: the handler makes order 1, then order 2. What a caller got is
  shown as it is; \`throws\` and the name of an error is what the handler's caller sees.
- Each scenario has wishes: what somebody who owns such a function would want to see. They are judged by the same code for
  every contestant.
- Both packages are set up as their documentation recommends, on tables and with an SDK client of the same settings. With
  Powertools the key is required, the payload is checked against it, and the Lambda context is registered. A scenario
  about a default or a mistake says so.
- Both come as a wrapper (\`idempotent\`, \`makeIdempotent\`) and as a middleware of Middy (\`idempotency\`,
  \`makeHandlerIdempotent\`). Both adapters of a package share a column if they do the same.
- The scenarios are chosen by the authors of onceonly, from a list of what is known to break such packages. That makes this
  a list of hazards, not a sample of what happens in a week. The ordinary comes first, and there is nothing between the two.

Time is skipped, not waited for; a proxy between the SDK and the engine loses answers and refuses writes. What both cost
and how fast they are is in [benchmarks.md](benchmarks.md); how to move from one to the other in
[migrate-from-powertools.md](../guides/migrate-from-powertools.md).

## All of it at a glance

How often the effect happened, and how many of the wishes came true.

${summaryTable(all)}

${verdicts(all).join("\n")}

${Object.entries(groups)
  .map(([name, group]) => `## ${name}\n\n${group.map(scenarioSection).join("\n\n")}`)
  .join("\n\n")}

${durableSection(durable)}
## What they cost

Requests and units of the same paths, counted as in [benchmarks.md](benchmarks.md), which has the numbers.

${costTable(costs)}

The smaller bundle of a middleware with its store on DynamoDB:

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
    return `- ${adapter} against ${adapter}: as many wishes came true in ${both} scenarios, more with onceonly in ${onceonly}, more with Powertools in ${Powertools}.`;
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
