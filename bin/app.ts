// The CDK app of the sample. `cdk deploy -c ephemeral=true` makes a stack for trying out. Its tables,
// queues and logs go with it, the two published demo tokens are accepted, and a sandbox takes the
// payments. Without the switch the data stays, and nobody has access until `tokenDigests` names the
// SHA-256 of each tenant's token. The payment gateway is yours then: `--parameters PaymentGatewayUrl=…
// --parameters PaymentGatewayToken=…`.
import { App } from "aws-cdk-lib";
import { tokenDigestsOf } from "./bearer-api.ts";
import { DEMO_TOKENS } from "./demo-tokens.ts";
import { SampleStack } from "./sample-stack.ts";

const app = new App();
const ephemeral = String(app.node.tryGetContext("ephemeral")) === "true";
const configured: Record<string, string> | undefined = app.node.tryGetContext("tokenDigests");

new SampleStack(app, "OnceonlySample", {
  ephemeral,
  tokenDigests: configured ?? (ephemeral ? tokenDigestsOf(DEMO_TOKENS) : {}),
});
