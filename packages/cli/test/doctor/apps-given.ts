// Apps of the CDK as the doctor sees them: the templates that their synthesis writes, with what it says of each app.
import { mkdtempSync, readdirSync, realpathSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App, Stack } from "aws-cdk-lib";
import { ENV } from "../../../../test/cdk/misconfigurations/given.ts";

/** The files of its templates; `undefined` for an app whose constructs refuse it, so that no template is ever written. */
export function templatesOf(make: (stack: Stack) => unknown): string[] | undefined {
  const outdir = realpathSync(mkdtempSync(join(tmpdir(), "onceonly-doctor-app-")));
  const app = new App({
    outdir,
    builtinCloudFormationValidation: false,
    analyticsReporting: false,
    context: { "aws:cdk:bundling-stacks": [], "aws:cdk:enable-path-metadata": true },
  });
  try {
    make(new Stack(app, "Test", { env: ENV }));
    app.synth({ skipValidation: true });
  } catch {
    return undefined;
  }
  return templatesIn(outdir);
}

function templatesIn(folder: string): string[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) return name.startsWith("assembly-") ? templatesIn(path) : [];
      return name.endsWith(".template.json") ? [path] : [];
    })
    .toSorted();
}
