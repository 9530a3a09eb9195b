// What rules of cdk-nag find in an app, and what of it is acknowledged.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, type Stack, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks, type NagPack } from "cdk-nag";
import { run } from "../kit/run.ts";

interface Violation {
  readonly ruleName: string;
  readonly violatingConstructs: readonly { readonly constructPath: string }[];
}

interface Report {
  readonly pluginReports: readonly {
    readonly violations: readonly Violation[];
    readonly suppressedViolations?: readonly Violation[];
  }[];
}

export interface NagFindings {
  /** `<construct path>: <rule>`, sorted. */
  readonly open: readonly string[];
  readonly acknowledged: readonly string[];
}

/** Code is not bundled: the rules do not look into it. */
export function nagFindings(
  addTo: (app: App) => Stack,
  packIn: (app: App) => NagPack = (app) => new AwsSolutionsChecks(app),
): NagFindings {
  const outdir = mkdtempSync(join(tmpdir(), "nag-"));
  try {
    const app = new App({
      outdir,
      builtinCloudFormationValidation: false,
      analyticsReporting: false,
      context: { "aws:cdk:bundling-stacks": [] },
    });
    addTo(app);
    Validations.of(app).addPlugins(packIn(app));
    const reportFile = join(outdir, "validation-report.json");
    try {
      app.synth();
    } catch (error) {
      // With findings the synthesis fails after it has written them down.
      if (!existsSync(reportFile)) throw error;
    }
    return findingsIn(readFileSync(reportFile, "utf8"));
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

/** All the findings of four packs in an app of its own process, which writes into `outdir`. */
export async function findingsOfApp(folder: string, main: string, outdir: string): Promise<NagFindings> {
  const context = { "aws:cdk:bundling-stacks": [], "@aws-cdk/core:defaultCrossStackReferences": "weak" };
  const environment = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) };
  const tsx = import.meta.resolve("tsx");
  const args = ["--import", tsx, "--import", join(import.meta.dirname, "nag-packs-world.ts"), main];
  // With findings the synthesis fails after it has written them down.
  const failure = await run(process.execPath, args, folder, environment).catch((error: Error) => error);
  return findingsIn(
    await readFile(join(outdir, "validation-report.json"), "utf8").catch(() => {
      throw failure;
    }),
  );
}

/** @param report of a synthesis, as it is written into its folder */
function findingsIn(report: string): NagFindings {
  const { pluginReports }: Report = JSON.parse(report);
  return {
    open: pluginReports.flatMap(({ violations }) => violations.flatMap(linesOf)).sort(),
    acknowledged: pluginReports
      .flatMap(({ suppressedViolations = [] }) => suppressedViolations.flatMap(linesOf))
      .sort(),
  };
}

function linesOf({ ruleName, violatingConstructs }: Violation): string[] {
  return violatingConstructs.map(({ constructPath }) => `${constructPath}: ${ruleName}`);
}
