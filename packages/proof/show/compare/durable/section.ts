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

Five shapes of AWS's public samples, written again: an order with a wait, a map over items, parallel branches, an approval by
callback, and a trip whose bookings are undone. The provider recognizes no idempotency keys, but can be asked. AWS's SDK runs unchanged in the
simulator, and is killed before and after each of its requests: checkpoints, calls, and those to DynamoDB. A sender
delivers a failed execution's order again, for ten minutes or while another execution of it runs. \`npm run compare:durable\` writes this section.

Effects that happened twice · effects that are missing, or weren't undone · deliveries that never succeeded, of so many runs:

${markdownTable([["", ...contestants], ...rows])}

The SDK's documentation recommends Powertools against a second delivery. Its lock lasts as long as an
invocation, not as long as an execution that waits. And it can't know what happened between an effect and its checkpoint.

Requests to DynamoDB that one more step with one write costs:

${markdownTable([["", "requests"], ...costs])}
`;
}
