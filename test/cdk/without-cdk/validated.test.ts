// The validator takes seconds to start, so this file is in the full tier.
import { createRequire } from "node:module";
import { beforeAll, describe, expect, it } from "vitest";
import { cloudFormationOf, samOf } from "../../../tools/without-cdk/cloudformation.ts";
import { shopTemplate } from "../../../tools/without-cdk/shop.ts";

const template = shopTemplate();

interface Validator {
  readonly TemplateContent: new (content: string, name: string) => object;
  readonly CelEngine: new () => {
    validateTemplate(template: object): {
      readonly diagnostics: readonly {
        readonly severity: string;
        readonly ruleId: string;
        readonly message: string;
      }[];
    };
    free(): void;
  };
}

describe("the validator of CloudFormation that CDK carries", () => {
  const fromCdk = createRequire(createRequire(import.meta.url).resolve("aws-cdk-lib"));
  const { CelEngine, TemplateContent }: Validator = fromCdk("@aws/cloudformation-validate");
  let faultsIn: (text: string) => string[];

  beforeAll(() => {
    const engine = new CelEngine();
    faultsIn = (text) =>
      engine
        .validateTemplate(new TemplateContent(text, "template.yaml"))
        .diagnostics.filter(({ severity }) => severity === "ERROR" || severity === "FATAL")
        .map(({ ruleId, message }) => `${ruleId}: ${message}`);
    return () => engine.free();
  });

  /** `aws cloudformation package` puts the place of the upload there. */
  const packaged = (text: string) =>
    text.replace(/^( *)Code: \S+$/gm, "$1Code:\n$1  S3Bucket: uploads\n$1  S3Key: code.zip");

  it("finds nothing wrong in plain CloudFormation", () => {
    expect(faultsIn(packaged(cloudFormationOf(template)))).toEqual([]);
  });

  it("finds nothing wrong in SAM, whose transform it knows", () => {
    expect(faultsIn(samOf(template))).toEqual([]);
  });

  it.each([
    ["plain CloudFormation", packaged(cloudFormationOf(template))],
    ["SAM", samOf(template)],
  ])("would find a reference in %s that leads nowhere", (_, text) => {
    expect(faultsIn(text.replaceAll("!GetAtt Shipments.Arn", "!GetAtt Shipment.Arn"))).not.toEqual([]);
  });
});
