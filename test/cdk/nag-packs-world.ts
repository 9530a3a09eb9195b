// Loaded before an app of its own process: puts it under four packs of cdk-nag when it is synthesized.
import { App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks, HIPAASecurityChecks, NIST80053R5Checks, PCIDSS321Checks } from "cdk-nag";

const { synth } = App.prototype;
App.prototype.synth = function (this: App, ...options) {
  App.prototype.synth = synth;
  const packs = [AwsSolutionsChecks, NIST80053R5Checks, HIPAASecurityChecks, PCIDSS321Checks];
  Validations.of(this).addPlugins(...packs.map((Pack) => new Pack(this)));
  return synth.apply(this, options);
};
