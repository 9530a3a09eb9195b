// Writes a cloud assembly by hand, as `cdk synth` would, so that a test says exactly what is in it.
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CODE_DIRECTORY = fileURLToPath(new URL("../../../../test/fixtures/echo-app/code", import.meta.url));

/** The S3 key of the one asset, the code of the fixture. */
const CODE_KEY = "code.zip";

/** @param environments of stacks, as the manifest has them; by default the app leaves account and region open */
export async function assemblyOf(
  templates: Record<string, object>,
  environments: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "onceonly-test-assembly-"));
  const write = (name: string, content: object) => writeFile(join(folder, name), JSON.stringify(content));
  const artifacts: Record<string, object> = {};
  for (const [name, template] of Object.entries(templates)) {
    artifacts[`${name}.assets`] = { type: "cdk:asset-manifest", properties: { file: `${name}.assets.json` } };
    artifacts[name] = {
      type: "aws:cloudformation:stack",
      environment: environments[name] ?? "aws://unknown-account/unknown-region",
      properties: { templateFile: `${name}.template.json` },
      dependencies: [`${name}.assets`],
    };
    await write(`${name}.template.json`, template);
    await write(`${name}.assets.json`, {
      files: {
        code: {
          source: { path: CODE_DIRECTORY, packaging: "zip" },
          destinations: { here: { objectKey: CODE_KEY } },
        },
      },
    });
  }
  await write("manifest.json", { version: "55.0.0", artifacts });
  return folder;
}

export function functionResource(handler: string, more: object = {}): object {
  return {
    Type: "AWS::Lambda::Function",
    Properties: {
      Runtime: "nodejs24.x",
      Handler: handler,
      Code: { S3Bucket: { "Fn::Sub": `cdk-assets-\${AWS::AccountId}` }, S3Key: CODE_KEY },
      ...more,
    },
  };
}
