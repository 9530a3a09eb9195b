// The sample's CDK app. `cdk deploy -c ephemeral=true` creates a stack to try out: its tables,
// queues and logs are deleted with it, the two published demo tokens are accepted, and a sandbox handles the
// payments. Without the switch the data stays, and no caller has access until `tokenDigests` lists the
// SHA-256 of each tenant's token. You then provide the payment gateway: `--parameters PaymentGatewayUrl=…
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
