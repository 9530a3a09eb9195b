// What the examples of servers teach: a caller that was verified, and an order that commits with its answer.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const fences = [...read("docs/guides/servers.md").matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);
const servers = readdirSync(join(root, "bin/servers")).map((file) => read(`bin/servers/${file}`));

describe("S2: the examples of servers", () => {
  it("read the caller from the request in `scope`", () => {
    const scopes = [...fences, ...servers].flatMap((code) => [...code.matchAll(/scope: ([^\n]+)/g)]);

    expect(scopes.length).toBeGreaterThan(5);
    for (const [, scope] of scopes) expect(scope).not.toMatch(/^\(\) =>|^"|^'/);
  });

  it("commit the order with its answer, in each sample and for each framework", () => {
    expect(servers.filter((code) => !code.includes("commit("))).toEqual([]);
    for (const adapter of ["honoIdempotency", "expressIdempotency", "fastifyIdempotency"])
      expect(fences.some((code) => code.includes(`${adapter}(`) && code.includes("await commit("))).toBe(
        true,
      );
  });
});
