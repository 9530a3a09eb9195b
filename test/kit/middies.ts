// The versions of Middy that are supported: each test of the middleware runs on all of them.
import middy6 from "@middy/core";
import { describe } from "vitest";

const nodeMajor = Number(process.versions.node.split(".")[0]);
const canRun7 = nodeMajor >= 22;
const middy7 = canRun7 ? ((await import("middy7")).default as unknown as typeof middy6) : middy6;

export function describeOnMiddies(name: string, tests: (middy: typeof middy6, major: 6 | 7) => void): void {
  describe(`${name} on Middy 6`, () => tests(middy6, 6));
  // Middy 7 does not run on older versions of Node; `.ci/run` brings one that it runs on.
  describe.skipIf(!canRun7)(`${name} on Middy 7 (needs Node 22)`, () => tests(middy7, 7));
}
