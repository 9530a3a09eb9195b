import { describe, it } from "vitest";
import { fromPg } from "../../lib/postgres/from-pg.ts";
import { fromPostgresJs } from "../../lib/postgres/from-postgres-js.ts";
import { keepsHostileJson } from "../kit/hostile-values.ts";
import { hasServer, poolOf, portOf, sqlOf, storeOf } from "./given.ts";

describe.skipIf(!hasServer)("PostgresStore", () => {
  it.each([
    ["pg", (port: number) => fromPg(poolOf(port))],
    ["postgres.js", (port: number) => fromPostgresJs(sqlOf(port))],
  ])("H85: A5: keeps hostile JSON exactly, over %s", async (_, clientOf) => {
    const { store } = await storeOf<unknown>(clientOf(await portOf()) as never);

    await keepsHostileJson(store, 10);
  });
});
