// State that all copies of the package in a process share, and a copy of another release beside it.
import { executionOf, expressIdempotency } from "onceonly/http";
import { MemoryStore } from "onceonly/testing";
import { afterEach, describe, expect, it } from "vitest";
import { otherCopies, SHAPE, shared } from "../../lib/core/copies.ts";
import { fingerprintOf } from "../../lib/core/fingerprint.ts";
import { httpFingerprint } from "../../lib/lambda/http/fingerprint.ts";
import { saga } from "../../lib/saga/saga.ts";

const all = (globalThis as { [key: symbol]: Record<number, Record<string, object>> })[
  Symbol.for("onceonly.copies")
]!;
const NEXT = SHAPE + 1;
afterEach(() => {
  delete all[NEXT];
});

/** As a release with another shape leaves it. */
const nextRelease = () => {
  all[NEXT] = { requests: new WeakMap(), bodies: new WeakMap(), nesting: {} };
};
const CAUSE = `Another version of onceonly in this process may have created it (its shape is ${NEXT}, this one's is ${SHAPE}): load one version`;

describe("H86: copies of one shape", () => {
  it("share what the first one made", () => {
    const made = shared("copies.test", () => new WeakMap());

    expect(shared("copies.test", () => new WeakMap())).toBe(made);
  });
});

describe("H86: A6: copies of another shape", () => {
  it("share no state", () => {
    nextRelease();

    expect(shared("requests", () => new WeakMap())).not.toBe(all[NEXT]!.requests);
    expect(shared("requests", () => new WeakMap())).toBe(all[SHAPE]!.requests);
  });

  it("are the cause only if they keep state of that name", () => {
    expect(otherCopies("requests")).toBe("");
    nextRelease();

    expect(otherCopies("requests")).toBe(`. ${CAUSE}`);
    expect(otherCopies("stacks")).toBe("");
  });

  it("are named if a request, a body or one of their executions is given", async () => {
    const place = saga<unknown>("place", [{ name: "pay", run: () => 1 }]);
    const idempotentExpress = expressIdempotency({
      operation: "charge",
      store: new MemoryStore(),
      scope: () => "acme",
    });
    const errors: string[] = [];
    const req = { method: "POST", url: "/", headers: { "content-length": "5", "idempotency-key": "k" } };
    const askAll = async () => {
      try {
        executionOf({});
      } catch (error) {
        errors.push((error as Error).message);
      }
      await new Promise<void>((resolve) => {
        idempotentExpress(req as never, {} as never, (error) => {
          errors.push((error as Error).message);
          resolve();
        });
      });
      await place.run({} as never, {}).catch((error: Error) => errors.push(error.message));
    };

    await askAll();
    expect(errors.filter((text) => text.includes("Another version"))).toEqual([]);
    nextRelease();
    errors.length = 0;
    await askAll();

    expect(errors).toHaveLength(3);
    for (const text of errors) expect(text).toContain(CAUSE);
  });

  it("have fingerprints that carry their own version, and are compared as they are", () => {
    const event = { version: "2.0", rawPath: "/", requestContext: { http: { method: "POST" } }, body: "x" };
    const foreign = { [Symbol.for("onceonly.fingerprint")]: "3:of-a-later-release" };

    expect(fingerprintOf(httpFingerprint(event))).toMatch(/^2:/);
    expect(fingerprintOf(foreign)).toBe("3:of-a-later-release");
  });
});
