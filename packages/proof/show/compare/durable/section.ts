// The section about durable functions in docs/proof/comparison.md. Pure.
import { markdownTable } from "../../../measure/report/markdown.ts";
import type { DurableResults } from "./measure.ts";

export const HEADING = "## Durable functions";

export function durableSection({ counts, requests }: DurableResults): string {
  const contestants = Object.keys(counts);
  const cellOf = (contestant: string, situation: string) => {
    const { doubled = 0, lost = 0, failed = 0, runs = 0 } = counts[contestant]?.[situation] ?? {};
    return `${doubled} · ${lost} · ${failed} of ${runs}`;
  };
  const rows = Object.keys(Object.values(counts)[0] ?? {}).map((situation) => [
    situation,
    ...contestants.map((contestant) => cellOf(contestant, situation)),
  ]);
  const costs = Object.entries(requests).map(([contestant, count]) => [contestant, `${count}`]);
  return `${HEADING}

Five workflows modelled on AWS's public samples: an order with a wait, a map over items, parallel branches, an approval by
callback, and a trip whose bookings are undone. The provider ignores idempotency keys, but can be queried. AWS's SDK runs unchanged in the
simulator, which kills it before and after each of its requests: checkpoints, calls, and requests to DynamoDB. A sender
delivers a failed execution's order again, for ten minutes or while another execution of it runs. \`npm run compare:durable\` writes this section.

Effects that happened twice · effects that are missing, or weren't undone · deliveries that never succeeded, each of the number of runs:

${markdownTable([["", ...contestants], ...rows])}

The SDK's documentation recommends Powertools against a second delivery. Its lock lasts for one
invocation, not for an execution that waits, and it can't know what happened between an effect and its checkpoint.

DynamoDB requests for each additional step with one write:

${markdownTable([["", "requests"], ...costs])}
`;
}
