// The store contract, unchanged, with each client, on a server alone and on a cluster.
import { describe } from "vitest";
import { promises } from "./contract-given.ts";
import { CLIENTS, CLUSTERS, hasServer, portOf } from "./given.ts";

describe.skipIf(!hasServer)("ValkeyStore", () => {
  describe.each(Object.entries(CLIENTS))("with %s", (_, connect) => {
    promises(async () => connect(await portOf()));
  });

  describe.each(Object.entries(CLUSTERS))("on a cluster, with %s", (_, connect) => {
    promises(async () => connect(await portOf("cluster")), { hashTag: "shop" });
  });
});
