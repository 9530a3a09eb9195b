import { httpIdempotent, idempotent, idempotentBatch } from "onceonly";
import { MemoryStore } from "onceonly/testing";
import { expect, it } from "vitest";

it("a wrapped handler is named after its operation, which reports and stack traces show", () => {
  const options = { operation: "create-order", store: new MemoryStore(), key: () => "k" };
  const http = { operation: "create-order", store: new MemoryStore(), scope: "public" as const };
  const wrapped = [
    idempotent(async () => 1, options),
    httpIdempotent(async () => ({ statusCode: 200 }), http),
    idempotentBatch(async () => {}, options),
  ];

  expect(wrapped.map(({ name }) => name)).toEqual(Array(3).fill("create-order"));
});
