// docs/proof/explored.md: what the explorer says about the functions of the sample, as it says it.
import type { ExploreReport } from "../../../explorer/lib/explorer/report.ts";
import { SAMPLES } from "./samples.ts";

const HEAD = `# What the explorer says about the sample

Reports of the explorer about real handlers, so that you know what yours will look like.

Written by \`npm run explore\`; a test checks that it says so still, byte for byte. Each function ran once undisturbed. Then it ran
from the start again for everything that can go wrong at each of its requests ([simulator.md](../reference/simulator.md#what-explore-tries) has the list). When
its source was done its effects were compared.
`;

/** Explores all samples; `note` is called before each. */
export async function exploredPage(note: (name: string) => void = () => {}): Promise<string> {
  const sections: string[] = [];
  for (const { name, about, explore } of SAMPLES) {
    note(name);
    sections.push(section(name, about, await explore()));
  }
  return [HEAD, ...sections].join("\n");
}

function section(name: string, about: string, report: ExploreReport): string {
  const points = report.points.map(({ number, label }) => `| ${number} | ${label} |`);
  const table = points.length === 0 ? [] : ["| point | request |", "|---|---|", ...points, ""];
  return [`## ${name}`, "", about, "", "```", String(report), "```", "", ...table].join("\n");
}
