/** `onceonly explore`: prints the reports of a module that explores, and writes them as a page. */
import { writeFile } from "node:fs/promises";
import type { ExploreReport } from "onceonly-explorer";
import { type CliCommand, onlyArgument, UsageError } from "./command.ts";
import { defaultExport } from "./default-export.ts";
import { loadTool } from "./installed.ts";

export const explore: CliCommand = {
  usage: `usage: onceonly explore <module> [options]

Imports the module, prints the reports in its default export, and exits with 1 if any of them has a finding:

  import { explore } from "onceonly-explorer";
  export default [await explore(handler, event, options)];

  --html <file>   also write the reports as one HTML page, with a sequence diagram per finding`,
  options: { html: { type: "string" } },
  async run({ values, positionals, terminal }) {
    const module = onlyArgument(positionals, "module");
    const reports = await reportsOf(module);
    for (const report of reports) {
      const [headline = "", ...lines] = `${report}\n`.split("\n");
      terminal.print(headline, report.findings.length === 0 ? "good" : "bad");
      for (const line of lines) terminal.print(line);
    }
    if (typeof values.html === "string") {
      const { reportPage } = await loadTool("explore --html", "onceonly-explorer");
      await writeFile(values.html, reportPage(reports));
      terminal.print(`wrote ${values.html}`);
    }
    return reports.every(({ findings }) => findings.length === 0) ? 0 : 1;
  },
};

/** @throws UsageError where the module exports no report */
async function reportsOf(module: string): Promise<readonly ExploreReport[]> {
  const reports = await Promise.all([await defaultExport(module, "the module with the reports")].flat());
  if (reports.length > 0 && reports.every(isReport)) return reports;
  throw new UsageError(
    `${module} doesn't export a report by default: it needs export default [await explore(handler, event, options)]`,
  );
}

/** The module may have another copy of this package. */
const isReport = (value: unknown): value is ExploreReport => {
  const { findings, points } = Object(value) as Partial<ExploreReport>;
  return Array.isArray(findings) && Array.isArray(points);
};
