// Runs a synthesized CDK stack on this machine, without Docker and without an account.
export { type DynamoDBEngine, startDynamoDB } from "./dynamodb-engine.ts";
export type { FunctionHost } from "./lambda/function-host.ts";
// Templates as files, for `onceonly doctor --template`.
export { objectOf, readObject } from "./stack/assembly-file.ts";
export { DESCRIBED_RUN_PATH, type DescribedResource, type DescribedRun } from "./stack/described-run.ts";
export type { Disturbances } from "./stack/disturbances.ts";
export { expandSam } from "./stack/sam/expand-sam.ts";
export { readTemplate, templateFileIn } from "./stack/sam/read-template.ts";
export { type RunningStack, type StartStackOptions, startStack } from "./stack/start-stack.ts";
export type { Template, TemplateResource } from "./stack/template.ts";
