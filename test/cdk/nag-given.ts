// What rules of cdk-nag find in an app, and what of it is acknowledged.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, type Stack, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks, type NagPack } from "cdk-nag";

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
    const { pluginReports }: Report = JSON.parse(readFileSync(reportFile, "utf8"));
    return {
      open: pluginReports.flatMap(({ violations }) => violations.flatMap(linesOf)).sort(),
      acknowledged: pluginReports
        .flatMap(({ suppressedViolations = [] }) => suppressedViolations.flatMap(linesOf))
        .sort(),
    };
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

function linesOf({ ruleName, violatingConstructs }: Violation): string[] {
  return violatingConstructs.map(({ constructPath }) => `${constructPath}: ${ruleName}`);
}
