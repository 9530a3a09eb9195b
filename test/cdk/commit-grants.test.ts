import { Template } from "aws-cdk-lib/assertions";
import { AttributeType, TableEncryptionV2, type TablePropsV2, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { type CommitAction, CommitGrants } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { rightsOf } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";

function granted(actions: CommitAction[], isEncrypted = false) {
  const stack = unitStack({ env: { region: "eu-west-1" } });
  const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  const encryption: Partial<TablePropsV2> = isEncrypted
    ? { encryption: TableEncryptionV2.customerManagedKey(new Key(stack, "Key")) }
    : {};
  const partitionKey = { name: "id", type: AttributeType.STRING };
  const orders = new TableV2(stack, "Orders", { partitionKey, ...encryption });
  CommitGrants.fromTable(orders).actions(role, ...actions);
  return rightsOf(Template.fromStack(stack), "Role");
}

const condition = {
  "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems"] },
};

describe("CommitGrants", () => {
  it("grants writes within transactions, and no others", () => {
    expect(granted(["dynamodb:UpdateItem", "dynamodb:PutItem"])).toEqual([
      { on: "Orders", actions: ["dynamodb:PutItem", "dynamodb:UpdateItem"], condition },
    ]);
  });

  it("grants the use of a customer managed key, which the table's own grants of actions leave out", () => {
    const [, ofKey] = granted(["dynamodb:PutItem"], true);

    expect(ofKey?.on).toBe("Key");
    expect(ofKey?.actions).toContain("kms:Decrypt");
  });

  it("rejects an action that is misspelt, or isn't a transaction's", () => {
    for (const action of ["dynamodb:PutItemm", "dynamodb:GetItem", "dynamodb:*"]) {
      expect(() => granted([action as CommitAction])).toThrow(
        `the actions granted for commits to Test/Orders include ${action}: use dynamodb:ConditionCheckItem, dynamodb:DeleteItem, dynamodb:PutItem, dynamodb:UpdateItem`,
      );
    }
  });

  it("refuses to grant nothing", () => {
    expect(() => granted([])).toThrow("the actions granted for commits to Test/Orders are empty");
  });
});
