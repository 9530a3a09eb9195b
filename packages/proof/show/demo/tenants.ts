// The tenants of the demo.
export const TENANTS = ["acme", "globex"] as const;
export type Tenant = (typeof TENANTS)[number];
