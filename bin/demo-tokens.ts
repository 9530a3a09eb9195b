/** Tokens for trying out, by tenant. They are public, so only an ephemeral stack accepts them. */
export const DEMO_TOKENS = { acme: "acme-demo-token", globex: "globex-demo-token" };

/**
 * The order service's token for the sandbox gateway. It is as public, and as ephemeral: no other stack has a
 * sandbox.
 */
export const SANDBOX_TOKENS = { shop: "shop-sandbox-token" };
