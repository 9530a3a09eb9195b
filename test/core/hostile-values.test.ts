// JSON of a client may look like a decision about its type. Every store and wrapper keeps it as it is.
import fc from "fast-check";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { fingerprintOf } from "../../lib/core/fingerprint.ts";
import { findUnfaithful, isPlainObject } from "../../lib/core/json.ts";
import { prepareMessage } from "../../lib/core/messages/prepare-message.ts";
import type { Store } from "../../lib/core/store.ts";
import { cached } from "../../lib/stores/cached.ts";
import { encrypted } from "../../lib/stores/encrypted.ts";
import { migrating } from "../../lib/stores/migrating.ts";
import { redacted } from "../../lib/stores/redacted.ts";
import { HOSTILE, hostileJson } from "../kit/hostile-json.ts";
import { keepsHostileJson } from "../kit/hostile-values.ts";
import { keyService } from "../stores/privacy-given.ts";

const stores: readonly (readonly [string, (store: Store<never>) => Store<never>])[] = [
  ["in memory", (store) => store],
  ["cached", (store) => cached(store)],
  ["encrypted", (store) => encrypted(store, { keys: keyService() })],
  ["redacted", (store) => redacted(store, (result) => result)],
  ["migrating", (store) => migrating(store, new MemoryStore() as Store<never>)],
];

describe("hostile JSON", () => {
  it.each(stores)("H85: A5: is kept exactly %s", async (_, wrap) => {
    await keepsHostileJson(wrap(new MemoryStore() as Store<never>));
  });

  it("H85: A5: has the fingerprint of its own members only", () => {
    const texts = [...HOSTILE, 1, "text", null, {}, []].map((value) => JSON.stringify(value));
    const fingerprints = texts.map((text) => fingerprintOf(JSON.parse(text)));

    expect(new Set(fingerprints).size).toBe(new Set(texts).size);
    fc.assert(
      fc.property(hostileJson, (value) => {
        const text = JSON.stringify(value);
        if (text.includes("\\ud800")) expect(() => fingerprintOf(value)).toThrow("lone surrogate");
        else expect(fingerprintOf(JSON.parse(text))).toBe(fingerprintOf(value));
      }),
    );
  });

  it("H85: A5: is sent exactly in the body of a message", () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...HOSTILE), hostileJson), (value) => {
        const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders";
        const { body } = prepareMessage("messages[0]", { queue, key: "a", body: { value } });
        expect(JSON.stringify(JSON.parse(body))).toBe(JSON.stringify({ value }));
      }),
    );
  });

  it("H85: A5: prototypes decide what is plain, and an error names a class by its prototype", () => {
    class Order {
      readonly constructorName = "Order";
    }
    const disguised = Object.assign(new Order(), { constructor: { name: "secret" } });
    const inheriting = Object.create(Object.create(null, { secret: { value: 1 } }));

    expect(JSON.parse('[{"constructor":1},{"__proto__":{"a":1}}]').map(isPlainObject)).toEqual([true, true]);
    expect([Object.create(null), inheriting, Object.create({ a: 1 }), disguised].map(isPlainObject)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(findUnfaithful(disguised)?.why).toBe("a Order: convert it first");
    expect(findUnfaithful(inheriting)?.why).toBe("a class instance: convert it first");
  });
});
