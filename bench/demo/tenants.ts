// The bearer tokens of the tenants: those that an ephemeral stack of the sample accepts.
import type { Tenant } from "./plan.ts";

export const TOKENS: Readonly<Record<Tenant, string>> = {
  acme: "acme-demo-token",
  globex: "globex-demo-token",
};
