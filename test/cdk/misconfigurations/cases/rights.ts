import { CfnParameter, Duration, Fn, type Stack } from "aws-cdk-lib";
import { AttributeType, MultiRegionConsistency, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { type CommitAction, CommitGrants, UseIdempotency } from "onceonly/cdk";
import { aFunction } from "../../given.ts";
import { accepted, type Misconfiguration, refused, runner, tableIn, warned } from "../given.ts";

const PK = { name: "id", type: AttributeType.STRING };
const aRole = (stack: Stack) =>
  new Role(stack, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
const rows = (stack: Stack) => CommitGrants.fromTable(new TableV2(stack, "Rows", { partitionKey: PK }));
const granted = (options: object, props?: object) => (stack: Stack) =>
  tableIn(stack, props).grantIdempotency(aRole(stack), options);

export const RIGHTS: readonly Misconfiguration[] = [
  warned(
    "a function that may access the records of every operation",
    "onceonly:operations-unfenced",
    (stack) => aFunction(stack).with(new UseIdempotency(tableIn(stack))),
  ),
  warned(
    "a role that may access the records of every operation",
    "onceonly:operations-unfenced",
    granted({}),
  ),
  refused(
    "a `scopeTag` without operations",
    "scopeTag is tenant, but operations isn't set",
    granted({ scopeTag: "tenant" }),
  ),
  refused("an empty list of operations", "operations is an empty array", granted({ operations: [] })),
  refused(
    "an operation without a name",
    "operations contains an empty string",
    granted({ operations: [""] }),
  ),
  refused(
    "a list of operations that is only known at deployment",
    "operations is a list that's only known at deployment",
    (stack) => granted({ operations: Fn.split(",", new CfnParameter(stack, "Names").valueAsString) })(stack),
  ),
  refused("a number token in the name of an operation", "use Tokenization.stringifyNumber", (stack) =>
    granted({
      operations: [`pay-${new CfnParameter(stack, "Number", { type: "Number" }).valueAsNumber}`],
    })(stack),
  ),
  refused("a `scopeTag` that is only known at deployment", "scopeTag is only known at deployment", (stack) =>
    granted({ operations: ["pay"], scopeTag: new CfnParameter(stack, "Tag").valueAsString })(stack),
  ),
  refused(
    "a `scopeTag` that isn't a valid tag key",
    "which isn't a valid tag key",
    granted({ operations: ["pay"], scopeTag: "a*b" }),
  ),
  refused(
    "commits by a tenant's session on a table with an outbox",
    "a tenant's session could have any message sent",
    granted({ operations: ["pay"], scopeTag: "tenant", commits: true }, { outbox: true }),
  ),
  refused(
    "a `closedUntil` that isn't a time",
    "closedUntil is an invalid Date",
    granted({ operations: ["pay"], closedUntil: new Date("tomorrow") }),
  ),
  refused(
    "a `closedUntil` that is a string",
    "closedUntil is a string, not a Date",
    granted({ operations: ["pay"], closedUntil: "2026-01-31T12:00Z" }),
  ),
  refused("`CommitGrants` with a misspelt action", "include dynamodb:PutItems", (stack) =>
    rows(stack).actions(aRole(stack), "dynamodb:PutItems" as CommitAction),
  ),
  refused("`CommitGrants` with an action that transactions don't support", "include dynamodb:Scan", (stack) =>
    rows(stack).actions(aRole(stack), "dynamodb:Scan" as CommitAction),
  ),
  refused("`CommitGrants` without actions", "are empty", (stack) => rows(stack).actions(aRole(stack))),
  refused("the rights of a reconciler without the index", "unknownOutcomes of Test/Table is off", (stack) =>
    tableIn(stack).grantResolving(aRole(stack)),
  ),
  refused("the rights of a relay without an outbox", "outbox of Test/Table is off", (stack) =>
    tableIn(stack).grantRelay(aRole(stack)),
  ),
  accepted(
    "no `commits` for a handler that commits messages",
    "the store reads `IDEMPOTENCY_OUTBOX` and refuses them before any write, and so does IAM",
    (stack) => runner(stack, { table: tableIn(stack, { outbox: true }), commits: false }),
  ),
  accepted(
    "an operation that no handler runs",
    "IAM refuses the handler's requests: nothing runs, and nothing runs twice",
    (stack) => runner(stack, { operations: ["misspelt"] }),
  ),
  accepted(
    "CDK's `grantReadWriteData` in addition to onceonly's grants",
    "it's the app's own decision, and its reviewers can see it",
    (stack) => {
      const table = tableIn(stack);
      table.table.grantReadWriteData(runner(stack, { table, retention: Duration.days(1) }));
    },
  ),
  accepted("a role that cannot be changed", "IAM refuses the handler's requests: nothing runs", (stack) => {
    const arn = "arn:aws:iam::111111111111:role/given";
    const role = Role.fromRoleArn(stack, "Given", arn, { mutable: false });
    runner(stack, { fn: { role } });
  }),
  refused("commits to a table in another region", "a transaction can't span accounts or regions", (stack) => {
    const far = "arn:aws:dynamodb:us-east-1:111111111111:table/orders";
    const orders = CommitGrants.fromTable(TableV2.fromTableArn(stack, "Orders", far));
    orders.actions(runner(stack, { commits: true }), "dynamodb:PutItem");
  }),
  refused(
    "commits to a table in another account",
    "a transaction can't span accounts or regions",
    (stack) => {
      const far = "arn:aws:dynamodb:eu-west-1:222222222222:table/orders";
      const orders = CommitGrants.fromTable(TableV2.fromTableArn(stack, "Orders", far));
      orders.actions(runner(stack, { commits: true }), "dynamodb:PutItem");
    },
  ),
  refused("commits to a table without transactions", "such a table doesn't support transactions", (stack) => {
    const orders = new TableV2(stack, "Orders", {
      partitionKey: PK,
      replicas: [{ region: "eu-central-1" }, { region: "eu-west-3" }],
      multiRegionConsistency: MultiRegionConsistency.STRONG,
    });
    CommitGrants.fromTable(orders).actions(runner(stack, { commits: true }), "dynamodb:PutItem");
  }),
];
