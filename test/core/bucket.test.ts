import { describe, expect, it } from "vitest";
import { BUCKET_CHECKS, withinPatience } from "../../lib/core/bucket.ts";
import { checkOptions } from "../../lib/core/option-checks.ts";
import { fakeClock } from "../../lib/testing/index.ts";

const client = { putObject: () => {}, getObject: () => {} };

/** Each option with values that are accepted and values that are not. */
const TABLE: Record<keyof typeof BUCKET_CHECKS, { good: readonly unknown[]; bad: readonly unknown[] }> = {
  bucket: {
    good: ["abc", "1-a.b-2", "a".repeat(63), "undefined-orders", "null-orders"],
    bad: ["ab", "a".repeat(64), "Orders", "my_orders", "orderS", "-orders", "orders-", 1234, ["orders"]],
  },
  client: { good: [client], bad: [{}, { ...client, getObject: undefined }, null] },
  prefix: {
    good: ["", "orders/2023-11_v1.0!*'()", "a".repeat(800)],
    bad: ["a".repeat(801), "my orders", "bücher", 7, null],
  },
  minBytes: { good: [1, 200_000, 1_000_000], bad: [0, -1, 1.5, 1_000_001, "5", Number.NaN] },
};

describe("the options of a bucket", () => {
  const rows = Object.entries(TABLE);
  const check = (name: string, value: unknown) => checkOptions({ [name]: value }, BUCKET_CHECKS, []);

  it.each(rows.flatMap(([name, { good }]) => good.map((value) => [name, value] as const)))(
    "accept %s: %j",
    (name, value) => {
      expect(() => check(name, value)).not.toThrow();
    },
  );

  it.each(rows.flatMap(([name, { bad }]) => bad.map((value) => [name, value] as const)))(
    "refuse %s: %j, naming option and rule",
    (name, value) => {
      expect(() => check(name, value)).toThrow(
        `\`${name}\` ${BUCKET_CHECKS[name as keyof typeof BUCKET_CHECKS][0]}`,
      );
    },
  );

  it.each(["undefined", "null"])("refuse the bucket %j, the text of a variable that isn't set", (bucket) => {
    expect(() => check("bucket", bucket)).toThrow("`bucket` must be the name of a bucket");
  });
});

it("R11: a bucket that doesn't respond within 30 s, or the time that the caller sets, fails with a TimeoutError", async () => {
  const clock = fakeClock();
  const hang = () => new Promise(() => {});

  await expect(clock.run(withinPatience(hang, { clock }))).rejects.toMatchObject({
    name: "TimeoutError",
    message: "no response within 30 s",
  });
  await expect(clock.run(withinPatience(hang, { clock, ms: 1500 }))).rejects.toThrow("within 1.5 s");
  expect(await withinPatience(async () => "stored", { clock })).toBe("stored");
});
