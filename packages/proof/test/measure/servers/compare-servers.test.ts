// A moment of the load on real servers and engines: that every contestant is asked, answers, and is compared with the bare handler.
import { describe, expect, inject, it } from "vitest";
import { postgresInstallations } from "../../../../../test/kit/postgres-server.ts";
import { CONTESTANTS, compareServers, type ServerResult } from "../../../measure/servers/compare-servers.ts";

const endpoint = inject("everyDynamodbEngine")[0]?.endpoint ?? "";
const hasEngines = inject("hasValkey") && postgresInstallations().length > 0;

describe.runIf(hasEngines)("compareServers", () => {
  it("measures each store next to the bare handler, and rejects a response for another key, or no replay the second time", async () => {
    let turns = 0;
    const figures = await compareServers(endpoint, { rounds: 1, roundMs: 300, calls: 2 }, () => turns++);

    expect(turns).toBe(CONTESTANTS.length);
    for (const name of CONTESTANTS) {
      const { ratio, idle, ...measured } = figures.results[name] as ServerResult;
      for (const value of Object.values({ ...measured, ...idle, ...ratio }))
        expect(value, name).toBeGreaterThan(0);
    }
    expect(figures.results.none.ratio).toEqual({
      throughput: 1,
      p95: 1,
      p99: 1,
      first: 1,
      again: expect.any(Number),
    });
  });
});
