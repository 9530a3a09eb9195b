/** Tokens for trying out, by tenant. They are public, so only an ephemeral stack accepts them. */
export const DEMO_TOKENS = { acme: "acme-demo-token", globex: "globex-demo-token" };
