// The installed CDK: with --force, npm installs any version.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { IdempotencyTable, OutboxRelay } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { OLDEST_CDK, tooOld } from "../../lib/cdk/installed.ts";
import { root } from "../kit/project.ts";
import { unitStack } from "./app-given.ts";

describe("onceonly/cdk", () => {
  it("rejects a CDK that is older than its peer dependency", () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

    expect(`^${OLDEST_CDK}`).toBe(peerDependencies["aws-cdk-lib"]);
    expect(tooOld("2.99.1")).toBe(
      `onceonly/cdk needs aws-cdk-lib ${OLDEST_CDK} or later, but 2.99.1 is installed: run npm install aws-cdk-lib@latest`,
    );
    expect(["1.204.0", "2.256.9"].map((version) => tooOld(version) === undefined)).toEqual([false, false]);
  });

  it("accepts that version, later ones, and the versions that CDK's own repository builds", () => {
    expect([OLDEST_CDK, "2.276.0", "3.1.0", "0.0.0"].map(tooOld)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("knows an OutboxRelay of another copy of the package", () => {
    const copy = { [Symbol.for("onceonly.OutboxRelay")]: true };
    const stack = unitStack();
    const table = new IdempotencyTable(stack, "Table", { outbox: true });

    expect([copy, new OutboxRelay(stack, "Outbox", { table })].map(OutboxRelay.isOutboxRelay)).toEqual([
      true,
      true,
    ]);
    expect([undefined, null, "text", stack].map(OutboxRelay.isOutboxRelay)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
