/** Reports of the explorer as one page of HTML. Pure. */
import type { Finding } from "./finding.ts";
import { escaped, escapedLines, htmlPage } from "./html-page.ts";
import type { ExploreReport } from "./report.ts";
import type { ExploreReportParts } from "./report-parts.ts";
import { findingLine, groupsOf, headline, notes, othersLine } from "./report-text.ts";
import { sequenceDiagram } from "./sequence-diagram.ts";

/**
 * One file of HTML, to look at or to keep with a build. Each report has its points, and a sequence diagram for each defect,
 * with the crash marked. It asks for nothing from any network, and runs no script.
 */
export function reportPage(reports: readonly ExploreReport[]): string {
  return htmlPage("Explorer report", reports.map(section));
}

function section(report: ExploreReportParts): string {
  const groups = groupsOf(report.findings);
  const points = report.points.map(({ number, label }) => {
    const kinds = [
      ...new Set(report.findings.filter(({ point }) => point?.number === number).map(({ kind }) => kind)),
    ];
    return `<tr><td>${number}</td><td>${escaped(label)}</td><td${kinds.length > 0 ? ' class="bad"' : ""}>${kinds.join(", ") || "exactly once"}</td></tr>`;
  });
  return `<section>
<h2 class="${groups.length > 0 ? "bad" : "good"}">${escaped(headline(report))}</h2>
${notes(report)
  .map((line) => `<p>${escaped(line)}</p>`)
  .join("\n")}
${groups.map(defect).join("\n")}
<details><summary>requests of the undisturbed run</summary>
<table><thead><tr><th scope="col">point</th><th scope="col">request</th><th scope="col">under disturbances</th></tr></thead>
<tbody>${points.join("\n")}</tbody></table></details>
</section>`;
}

function defect([first, ...others]: readonly Finding[], index: number): string {
  if (first === undefined) return "";
  const line = findingLine(first);
  return `<article>
<h3>${index + 1}. ${escaped(line)}</h3>
<div class="diagram" tabindex="0" role="group" aria-label="sequence diagram">${sequenceDiagram(line, first.steps)}</div>
<p><strong>What to do:</strong> ${escaped(first.advice)}</p>
<p>Reproduce it: <code>only: ${escaped(JSON.stringify(first.id))}, seed: ${first.seed}</code></p>
${others.length > 0 ? `<p>${escaped(othersLine(others))}</p>` : ""}
<details><summary>as text</summary><pre>${escapedLines(first.trace)}</pre></details>
</article>`;
}
