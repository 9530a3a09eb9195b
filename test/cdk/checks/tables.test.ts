import { RemovalPolicies, RemovalPolicy } from "aws-cdk-lib";
import { Match, Template } from "aws-cdk-lib/assertions";
import { MultiRegionConsistency } from "aws-cdk-lib/aws-dynamodb";
import { Key } from "aws-cdk-lib/aws-kms";
import { IdempotencyTable, type IdempotencyTableProps } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "../app-given.ts";
import { faultsOf } from "../given.ts";

const inRegion = () => unitStack({ env: { region: "us-east-1" } });
const tableWith = (props: IdempotencyTableProps) => new IdempotencyTable(inRegion(), "Table", props);
const REPLICAS = [{ region: "eu-west-1" }, { region: "eu-central-1" }];

describe("IdempotencyTable", () => {
  it.each<[string, IdempotencyTableProps]>([
    [
      "deletionProtection of Test/Table is true and its removalPolicy is destroy",
      { deletionProtection: true, removalPolicy: RemovalPolicy.DESTROY },
    ],
    [
      "multiRegionConsistency of Test/Table is STRONG: such a table has no TTL",
      { multiRegionConsistency: MultiRegionConsistency.STRONG, replicas: REPLICAS, keysPinnedToRegion: true },
    ],
    [
      "outbox of Test/Table is on in 3 regions (its own, eu-west-1, eu-central-1)",
      { outbox: true, replicas: REPLICAS, keysPinnedToRegion: true },
    ],
    ["restoredAt of Test/Table is an invalid Date", { restoredAt: new Date("yesterday") }],
  ])("rejects what AWS would only reject later: %s", (message, props) => {
    expect(() => tableWith(props)).toThrow(message);
  });

  it.each<[string, IdempotencyTableProps]>([
    ["no protection where it is destroyed", { removalPolicy: RemovalPolicy.DESTROY }],
    ["protection where it is kept", { removalPolicy: RemovalPolicy.RETAIN, deletionProtection: true }],
    ["eventual consistency", { multiRegionConsistency: MultiRegionConsistency.EVENTUAL }],
    ["an outbox in one region", { outbox: true, replicas: [] }],
    ["a restored table", { restoredAt: new Date("2026-01-01T00:00:00Z") }],
  ])("accepts %s", (_, props) => {
    const stack = inRegion();
    new IdempotencyTable(stack, "Table", props);

    expect(faultsOf(stack)).toBe("");
  });

  it("refuses at synthesis that the whole stack is destroyed while the table is protected", () => {
    const stackWith = (props: IdempotencyTableProps) => {
      const stack = inRegion();
      new IdempotencyTable(stack, "Table", props);
      RemovalPolicies.of(stack).destroy();
      return stack;
    };

    expect(faultsOf(stackWith({ deletionProtection: false }))).toBe("");
    expect(faultsOf(stackWith({}))).toContain(
      "deletionProtection of Test/Table is true and its removalPolicy is destroy",
    );
  });

  it("refuses a customer managed key in a stack of no region", () => {
    const stack = unitStack();
    const encryptionKey = new Key(stack, "Key");

    expect(() => new IdempotencyTable(stack, "Table", { encryptionKey })).toThrow(
      "encryptionKey of Test/Table is set, but a key belongs to one region and the stack has none",
    );
  });

  it("accepts a customer managed key for each replica, or none at all", () => {
    const stackWith = (replicaKeyArns?: Record<string, string>) => {
      const stack = inRegion();
      new IdempotencyTable(stack, "Table", {
        encryptionKey: new Key(stack, "Key"),
        replicas: REPLICAS,
        keysPinnedToRegion: true,
        replicaKeyArns,
      });
      return stack;
    };
    const first = { "eu-west-1": "arn:aws:kms:eu-west-1:111111111111:key/a" };
    const both = { ...first, "eu-central-1": "arn:aws:kms:eu-central-1:111111111111:key/b" };

    Template.fromStack(stackWith(both)).hasResourceProperties("AWS::DynamoDB::GlobalTable", {
      Replicas: Match.arrayWith([
        Match.objectLike({
          Region: "eu-west-1",
          SSESpecification: { KMSMasterKeyId: first["eu-west-1"] },
        }),
      ]),
    });
    expect(() => stackWith(first)).toThrow("replicaKeyArns has no key for eu-central-1: add one for each");
    expect(() => stackWith()).toThrow("replicaKeyArns has no key for eu-west-1, eu-central-1");
  });

  it("H55: refuses replicas, since each region decides claims by itself", () => {
    expect(() => tableWith({ replicas: REPLICAS })).toThrow(
      "Test/Table would be in 3 regions (its own, eu-west-1, eu-central-1), and each region decides claims on its own, so 3 callers can win the same key",
    );
  });

  it("H55: accepts replicas if each key is declared to be used in one region", () => {
    const stack = inRegion();
    new IdempotencyTable(stack, "Table", { replicas: REPLICAS, keysPinnedToRegion: true });

    const [table] = Object.values(Template.fromStack(stack).findResources("AWS::DynamoDB::GlobalTable"));
    expect(table?.Properties.Replicas.map(({ Region }: { Region: string }) => Region)).toEqual([
      "eu-west-1",
      "eu-central-1",
      "us-east-1",
    ]);
  });

  it("H55: refuses at synthesis a replica that the table itself was given later", () => {
    const stack = inRegion();
    new IdempotencyTable(stack, "Table").table.addReplica({ region: "eu-west-1" });

    expect(faultsOf(stack)).toContain("Test/Table would be in 2 regions (its own, eu-west-1)");
  });
});
