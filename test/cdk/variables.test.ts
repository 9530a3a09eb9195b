// Variables of the app's own under the names that handlers read.
import { Duration } from "aws-cdk-lib";
import { IdempotencyTable, Reconciler, UseIdempotency } from "onceonly/cdk";
import { describe, expect, it } from "vitest";
import { unitStack } from "./app-given.ts";
import { aFunction, faultsOf } from "./given.ts";

function given(environment: Record<string, string> = {}) {
  const stack = unitStack();
  const table = new IdempotencyTable(stack, "Table", { unknownOutcomes: true });
  const fn = aFunction(stack, "Fn", { environment, timeout: Duration.seconds(29) });
  return { stack, table, fn, use: () => fn.with(new UseIdempotency(table, { operations: ["pay"] })) };
}

const CONFLICT = "to a different value than UseIdempotency, Reconciler or OutboxRelay does";

describe("a variable that a handler reads", () => {
  it.each(["IDEMPOTENCY_TABLE", "IDEMPOTENCY_OUTBOX", "IDEMPOTENCY_RETENTION_SECONDS"])(
    "is rejected if the app has set %s to something else, before and after",
    (name) => {
      expect(given({ [name]: "mine" }).use).toThrow(`Test/Fn sets the variable ${name} ${CONFLICT}`);

      const { stack, fn, use } = given();
      use();
      fn.addEnvironment(name, "mine");
      expect(faultsOf(stack)).toContain(`Test/Fn sets the variable ${name} ${CONFLICT}`);
    },
  );

  it("may be set to the same, and others to anything", () => {
    const { stack, table, fn, use } = given({ IDEMPOTENCY_RETENTION_SECONDS: "86400", MINE: "x" });
    fn.addEnvironment("IDEMPOTENCY_TABLE", table.table.tableName);
    use();
    new Reconciler(stack, "Reconciler", { table, handler: fn });

    expect(faultsOf(stack)).toBe("");
  });

  it("is rejected if a Reconciler of another table would replace it", () => {
    const { stack, fn, use } = given();
    use();
    const other = new IdempotencyTable(stack, "Other", { unknownOutcomes: true });

    expect(() => new Reconciler(stack, "Reconciler", { table: other, handler: fn })).toThrow(CONFLICT);
  });
});
