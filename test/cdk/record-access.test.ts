import { CfnParameter, Fn } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { IdempotencyTable, type IdempotencyTableProps, type RecordAccessOptions } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { type Right, rightsOf, through, WITHOUT_MESSAGES } from "../kit/rights.ts";
import { unitStack } from "./app-given.ts";

function granted(options?: RecordAccessOptions, props: IdempotencyTableProps = {}): Right[] {
  const stack = unitStack();
  const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
  new IdempotencyTable(stack, "Table", props).grantIdempotency(role, options);
  return rightsOf(Template.fromStack(stack), "Role");
}

const LEAN: RecordAccessOptions = { largeResults: false, waiting: false };
const OUTBOX = { outbox: true };
const GET = ["dynamodb:GetItem"];
const WRITE = ["dynamodb:PutItem", "dynamodb:UpdateItem"];
/** Without a value the pattern of a scope would be that of the records that belong to nobody. */
const HAS_TENANT = { StringLike: { "aws:PrincipalTag/tenant": "?*" } };
const leadingKeys = (...patterns: string[]) => ({
  "ForAllValues:StringLike": { "dynamodb:LeadingKeys": patterns },
  Null: { "dynamodb:LeadingKeys": "false" },
});

describe("IdempotencyTable.grantIdempotency", () => {
  it.each<[string, RecordAccessOptions | undefined, boolean]>([
    ["results of any size", undefined, true],
    ["small results, and calls that wait, by default", { largeResults: false }, true],
    ["small results only, and none that waits", LEAN, false],
    ["small results, and calls that wait", { ...LEAN, waiting: true }, true],
    ["small results, and a look first", { ...LEAN, lookFirst: true }, true],
    [
      "an option that is undefined",
      { largeResults: undefined, waiting: undefined, commits: undefined },
      true,
    ],
  ])("grants exactly what is required: %s", (_, options, reads) => {
    expect(granted(options)).toEqual([
      ...(reads ? [{ on: "Table", actions: GET }] : []),
      { on: "Table", actions: WRITE, condition: WITHOUT_MESSAGES },
    ]);
  });

  it("H75: grants the attributes that hold messages to those only who commit", () => {
    const right = { on: "Table", actions: [...GET, ...WRITE] };
    expect(granted({ ...LEAN, commits: true }, OUTBOX)).toEqual([right]);
  });

  it("grants no caller the attributes that hold messages if nothing would send them", () => {
    for (const outbox of [undefined, false]) {
      expect(granted({ ...LEAN, commits: true }, { outbox })).toEqual([
        { on: "Table", actions: GET },
        { on: "Table", actions: WRITE, condition: WITHOUT_MESSAGES },
      ]);
    }
  });

  it("grants requests for several records to batches only, and closes any that have no key or attribute to check", () => {
    const statements = ["dynamodb:PartiQLInsert", "dynamodb:PartiQLUpdate"];
    const condition = leadingKeys("charge#*");
    const attributes = { Null: { "dynamodb:Attributes": "false" } };
    const both = { Null: { "dynamodb:LeadingKeys": "false", "dynamodb:Attributes": "false" } };

    expect(granted({ ...LEAN, batches: true })).toEqual([
      { on: "Table", actions: WRITE, condition: WITHOUT_MESSAGES },
      { on: "Table", actions: ["dynamodb:BatchGetItem"] },
      { on: "Table", actions: statements, condition: { ...WITHOUT_MESSAGES, ...attributes } },
    ]);
    expect(granted({ operations: ["charge"], commits: true, batches: true }, { outbox: true })).toEqual([
      { on: "Table", actions: [...GET, ...WRITE], condition },
      { on: "Table", actions: ["dynamodb:BatchGetItem"], condition },
      { on: "Table", actions: statements, condition: { ...condition, ...WITHOUT_MESSAGES, ...both } },
    ]);
  });

  it("fences operations by the beginning of their keys, in every statement", () => {
    const condition = leadingKeys("create-order#*", "cancel-order#*");
    const operations = ["create-order", "cancel-order"];

    expect(granted({ operations })).toEqual([
      { on: "Table", actions: GET, condition },
      { on: "Table", actions: WRITE, condition: { ...condition, ...WITHOUT_MESSAGES } },
    ]);
    expect(granted({ operations, commits: true }, OUTBOX)).toEqual([
      { on: "Table", actions: [...GET, ...WRITE], condition },
    ]);
  });

  it("B3: keeps tokens that are resolved at deployment, and escapes only the text around them", () => {
    const stack = unitStack();
    const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    const name = new CfnParameter(stack, "Name").valueAsString;
    const operations = [`pay-${stack.region}`, `a*${stack.account}#${name}$`, name];
    new IdempotencyTable(stack, "Table").grantIdempotency(role, { ...LEAN, operations });

    const [right] = rightsOf(Template.fromStack(stack), "Role");
    const join = (...parts: unknown[]) => ({ "Fn::Join": ["", parts] });
    expect(right?.condition).toMatchObject({
      "ForAllValues:StringLike": {
        "dynamodb:LeadingKeys": [
          join("pay-", { Ref: "AWS::Region" }, "#*"),
          // biome-ignore lint/suspicious/noTemplateCurlyInString: IAM policy variables.
          join("a${*}", { Ref: "AWS::AccountId" }, "%23", { Ref: "Name" }, "${$}#*"),
          join({ Ref: "Name" }, "#*"),
        ],
      },
    });
  });

  it("B3: rejects tokens that have no pattern", () => {
    const stack = unitStack();
    const list = Fn.split(",", new CfnParameter(stack, "Names").valueAsString);
    const count = new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber;

    expect(() => granted({ operations: list })).toThrow(
      "operations is a list that's only known at deployment",
    );
    expect(() => granted({ operations: [`pay-${count}`] })).toThrow("use Tokenization.stringifyNumber");
    expect(() => granted({ operations: ["pay"], scopeTag: stack.region })).toThrow(
      "scopeTag is only known at deployment",
    );
  });

  it("fences scopes by a session tag", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an IAM policy variable.
    const ofTenant = leadingKeys("ship#${aws:PrincipalTag/tenant}#*");

    for (const outbox of [false, true]) {
      expect(granted({ ...LEAN, operations: ["ship"], scopeTag: "tenant" }, { outbox })).toEqual([
        { on: "Table", actions: WRITE, condition: { ...ofTenant, ...HAS_TENANT, ...WITHOUT_MESSAGES } },
      ]);
    }
  });

  it("H75: rejects commits of a tenant's session if a relay would send what it writes", () => {
    const options = { operations: ["ship"], scopeTag: "tenant", commits: true };

    expect(() => granted(options, { outbox: true })).toThrow(
      "scopeTag is tenant, commits is true, and Test/Table has an outbox",
    );
    expect(granted(options)).toHaveLength(2);
  });

  it("treats operations literally: nothing in a name is a wildcard or a variable", () => {
    const [right] = granted({ operations: ["a*b?c$d"] });

    // biome-ignore lint/suspicious/noTemplateCurlyInString: IAM policy variables.
    expect(right?.condition).toEqual(leadingKeys("a${*}b${?}c${$}d#*"));
  });

  it.each(["create-order", "50% off", "a#b", "tab\there", "größer", "a*b?c$d"])(
    "fences %j as the runtime writes it",
    (operation) => {
      const [right] = granted({ operations: [operation] });
      const [, pattern = ""] = /"dynamodb:LeadingKeys":\["(.*?)"\]/.exec(JSON.stringify(right)) ?? [];

      expect(pattern.endsWith("#*")).toBe(true);
      const prefix = pattern.slice(0, -1).replaceAll(/\$\{(.)\}/g, "$1");
      expect(identify(operation, "acme", "key").recordKey.startsWith(prefix)).toBe(true);
    },
  );

  it.each<[string, RecordAccessOptions]>([
    ["operations is an empty array: name at least one operation, or leave it out", { operations: [] }],
    ["operations contains an empty string", { operations: [""] }],
    ["scopeTag is tenant, but operations isn't set", { scopeTag: "tenant" }],
    ["B12: closedUntil is an invalid Date", { closedUntil: new Date("tomorrow") }],
    ["B12: closedUntil is a string, not a Date", { closedUntil: "2026-01-31" as unknown as Date }],
    ["B12: closedUntil is 1970-01-21", { closedUntil: new Date(Date.UTC(2026, 0, 31) / 1000) }],
    [`scopeTag is "a}b", which isn't a valid tag key`, { operations: ["ship"], scopeTag: "a}b" }],
  ])("refuses: %s", (message, options) => {
    expect(() => granted(options)).toThrow(message.replace(/^B12: /, ""));
  });

  it("B12: closes the table until a date, as the restoration is given by one", () => {
    const closedUntil = new Date("2026-01-31T12:00:00.5+01:00");
    const time = "2026-01-31T11:00:00.500Z";

    expect(granted({ ...LEAN, closedUntil })).toEqual([
      {
        on: "Table",
        actions: WRITE,
        condition: { DateGreaterThanEquals: { "aws:CurrentTime": time }, ...WITHOUT_MESSAGES },
      },
    ]);
  });

  it("grants the use of a customer managed key, action by action", () => {
    const stack = unitStack({ env: { region: "eu-west-1" } });
    const role = new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    const encryptionKey = new Key(stack, "Key");
    new IdempotencyTable(stack, "Table", { encryptionKey }).grantIdempotency(role, LEAN);

    expect(rightsOf(Template.fromStack(stack), "Role")).toEqual([
      { on: "Table", actions: WRITE, condition: WITHOUT_MESSAGES },
      {
        on: "Key",
        actions: [
          "kms:Decrypt",
          "kms:DescribeKey",
          "kms:Encrypt",
          "kms:GenerateDataKey",
          "kms:GenerateDataKeyWithoutPlaintext",
          "kms:ReEncryptFrom",
          "kms:ReEncryptTo",
        ],
        condition: through("dynamodb"),
      },
    ]);
  });
});
