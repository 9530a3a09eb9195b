import { describe, it } from "vitest";
import { keepsHostileJson } from "../kit/hostile-values.ts";
import { CLIENTS, hasServer, portOf, storeOf } from "./given.ts";

describe.skipIf(!hasServer)("ValkeyStore", () => {
  it.each(["ioredis", "redis, a client", "glide"])(
    "H85: A5: keeps hostile JSON exactly, over %s",
    async (name) => {
      const client = await CLIENTS[name]!(await portOf());

      await keepsHostileJson(storeOf(client).store);
    },
  );
});
