/** Tokens for trying out, by tenant. They are public, so only an ephemeral stack accepts them. */
export const DEMO_TOKENS = { acme: "acme-demo-token", globex: "globex-demo-token" };

/** What the order service shows the sandbox gateway. As public, and as ephemeral: no other stack has a sandbox. */
export const SANDBOX_TOKENS = { shop: "shop-sandbox-token" };
