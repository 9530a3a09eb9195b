// A negative control: a handler with one defect, which the explorer finds and names, and its mended twin, which passes.
// Without them a report that finds nothing would say nothing.
import { expect, it } from "vitest";
import { explore } from "../../../lib/explorer/explore.ts";
import type { FindingKind } from "../../../lib/explorer/finding.ts";
import { exactlyOnceMatchers } from "../../../lib/explorer/matchers.ts";
import type { ExploreOptions } from "../../../lib/explorer/options.ts";
import type { LambdaHandler } from "../../../lib/simulator/simulated-function.ts";
import type { Simulator } from "../../../lib/simulator/simulator.ts";

expect.extend(exactlyOnceMatchers);

export interface Control {
  readonly defect: string;
  readonly functions: { readonly handler: LambdaHandler; readonly mended: LambdaHandler };
  readonly event: unknown;
  readonly kind: FindingKind;
  /** Under which it is found, among others. */
  readonly id: string;
  readonly disturbance: string;
  /** Part of what is said about it. */
  readonly what: string;
  readonly options?: ExploreOptions;
}

export const shop: ExploreOptions = {
  tables: { orders: { partitionKey: "tenant", sortKey: "id" } },
  idempotencyTable: "idempotency",
  // Long enough for the SDK to give up on a request that is throttled: a shorter one hides what comes after.
  timeoutSeconds: 6,
};

export const created = () => Response.json({ ok: true }, { status: 201 });
export const gateway = { "https://gateway.example.com": created };

/** A row of the orders table that is there before. */
export const putRow = (row: Readonly<Record<string, string | number>>) => (aws: Simulator) =>
  aws.dynamodb.call("PutItem", {
    TableName: "orders",
    Item: Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === "number" ? { N: String(value) } : { S: value },
      ]),
    ),
  });

export function testControl({ functions, event, kind, id, disturbance, what, options }: Control): void {
  it("finds it, and reports where and what", async () => {
    const report = await explore(functions.handler, event, { ...shop, ...options, only: id });

    expect(report).not.toBeExactlyOnce();
    const finding = report.findings.find((each) => each.kind === kind && each.disturbance === disturbance);
    expect(finding?.what ?? String(report)).toContain(what);
    const [, number] = / point (\d+)/.exec(disturbance) ?? [];
    expect(finding?.point?.number).toBe(number === undefined ? undefined : Number(number));
  });

  it("finds nothing in the fixed twin", async () => {
    const report = await explore(functions.mended, event, { ...shop, ...options });

    expect(report).toBeExactlyOnce();
  });
}
