// What Powertools has and onceonly doesn't: each test fails as soon as onceonly has it, so that the page can't call it missing.
import { httpIdempotent, idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { MemoryStore } from "onceonly/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { newContext } from "./world.ts";

const refusal = (option: string) =>
  expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(option) });

describe.each([
  ["idempotent", idempotent, { key: () => "1" }],
  ["httpIdempotent", httpIdempotent, { scope: "public" }],
])("%s", (_, wrap, more) => {
  it.each(["jmesPathOptions", "hashFunction"])("has no option `%s`", (option) => {
    const options = { operation: "charge", store: new MemoryStore(), ...more, [option]: {} };

    const wrapped = wrap as (handler: unknown, options: unknown) => unknown;
    expect(() => wrapped(async () => 1, options)).toThrow(refusal(option));
  });
});

describe("DynamoDBStore", () => {
  it.each(["statusAttr", "inProgressExpiryAttr", "dataAttr", "validationKeyAttr", "clientConfig"])(
    "has no option `%s`",
    (option) => {
      expect(() => new DynamoDBStore({ tableName: "payments", [option]: {} })).toThrow(refusal(option));
    },
  );
});

describe("idempotent", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it("has no environment variable that switches protection off", async () => {
    vi.stubEnv("POWERTOOLS_IDEMPOTENCY_DISABLED", "true");
    vi.stubEnv("ONCEONLY_DISABLED", "true");
    let runs = 0;
    const handler = idempotent(async () => ++runs, {
      operation: "charge",
      store: new MemoryStore(),
      key: () => "1",
    });

    expect([await handler({}, newContext()), await handler({}, newContext())]).toEqual([1, 1]);
  });
});
