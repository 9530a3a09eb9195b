// The same promises for inputs that nobody wrote down: new ones at each run.
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ATTRIBUTES, ENVELOPE_ATTRIBUTE } from "../../lib/contract.ts";
import { identify } from "../../lib/core/identity.ts";
import { judgeEnvelope } from "./cases/envelopes.ts";
import { isStorable, storedItems } from "./cases/stored-items.ts";

const SEPARATING = fc.string({
  unit: fc.constantFrom("#", "%", "2", "3", " ", "a", "\u0000", "\u200b", "é", "e\u0301", "\ud83d", "\udd11"),
  maxLength: 10,
});
const scope = fc.oneof(
  SEPARATING,
  fc.string({ unit: "binary" }),
  fc.anything(),
  fc.constantFrom("undefined", "null", "NaN", " None "),
);

const recordKeyOf = (value: unknown) => {
  try {
    return identify("op", value as string, "key").recordKey;
  } catch (error) {
    expect(error).toMatchObject({ code: "SCOPE_MISSING" });
    return undefined;
  }
};

describe("any two scopes", () => {
  it("H76: are rejected, or have separate records, none of which is public", () => {
    fc.assert(
      fc.property(scope, scope, (one, other) => {
        const [first, second] = [recordKeyOf(one), recordKeyOf(other)];

        if (first === undefined || second === undefined) return;
        expect(first === second).toBe(one === other);
        // The empty text is how onceonly itself names the public scope.
        if (one !== "") expect(first.startsWith("op##")).toBe(false);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("any envelope", () => {
  const content = fc.oneof(
    fc.json({ maxDepth: 3 }),
    fc.string(),
    fc
      .record({ v: fc.oneof(fc.constant(1), fc.anything()), key: fc.oneof(fc.string(), fc.anything()) })
      .map((value) => {
        try {
          return JSON.stringify(value) ?? "";
        } catch {
          return "";
        }
      }),
  );
  const attributes = fc.oneof(
    fc.anything(),
    content.map((stringValue) => ({ [ENVELOPE_ATTRIBUTE]: { stringValue, dataType: "String" } })),
    fc.anything().map((held) => ({ [ENVELOPE_ATTRIBUTE]: held })),
  );

  it("H74: is its key, or the message comes back unrun", async () => {
    await fc.assert(
      fc.asyncProperty(attributes, async (messageAttributes) => {
        await judgeEnvelope(messageAttributes);
      }),
      { numRuns: 500 },
    );
  });
});

describe("any stored item", () => {
  let items: Awaited<ReturnType<typeof storedItems>>;
  beforeAll(async () => {
    items = await storedItems();
  });
  afterAll(() => items.close());

  const { value } = fc.letrec<{ value: AttributeValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 2, depthSize: "small" },
      fc.string().map((S) => ({ S })),
      fc
        .constantFrom("completed", "failed", "released", "in-progress", "held", "{}", '"a"')
        .map((S) => ({ S })),
      fc.oneof(fc.integer(), fc.maxSafeInteger()).map((N) => ({ N: `${N}` })),
      fc.boolean().map((BOOL) => ({ BOOL })),
      fc.uint8Array({ maxLength: 40 }).map((B) => ({ B })),
      fc.array(tie("value"), { maxLength: 3 }).map((L) => ({ L })),
      fc.dictionary(fc.string({ minLength: 1 }), tie("value"), { maxKeys: 3 }).map((M) => ({ M })),
    ) as fc.Arbitrary<AttributeValue>,
  }));
  const attribute = fc.constantFrom(
    ...Object.values(ATTRIBUTES).filter((name) => name !== ATTRIBUTES.partitionKey),
  );
  const kind = fc.constantFrom("completed", "large", "sending", "failed", "released" as const);

  it("is replayed as documented, or closed", async () => {
    await fc.assert(
      fc.asyncProperty(
        kind,
        attribute,
        fc.option(value, { nil: undefined }),
        async (kind, attribute, value) => {
          const item = { kind: kind as never, attribute, value };
          fc.pre(isStorable(item));
          await items.judge(item);
        },
      ),
      { numRuns: 400 },
    );
  });
});
