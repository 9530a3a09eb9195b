import { expect, it } from "vitest";
import { requestLine } from "../../../lib/stack/gateway/request-line.ts";

const answered = (headers: Record<string, string>, body = "", statusCode = 201) => ({
  statusCode,
  headers,
  cookies: [],
  body: Buffer.from(body),
});
const line = (answer: ReturnType<typeof answered>, key: string | undefined = "order-0001") =>
  requestLine({
    message: { method: "POST", url: "/orders?debug=1", headers: key ? { "idempotency-key": key } : {} },
    target: "CreateOrder",
    answer,
    tookMs: 6,
  });

it("names function, request, outcome, key and time", () => {
  expect(line(answered({}))).toBe("CreateOrder  POST /orders  201  order-0001  6 ms");
  expect(line(answered({ "Idempotent-Replayed": "true" }))).toBe(
    "CreateOrder  POST /orders  201 replayed  order-0001  6 ms",
  );
});

it("shows a problem by its code", () => {
  const problem = { "content-type": "application/problem+json" };
  const body = JSON.stringify({ code: "EXECUTION_IN_PROGRESS" });
  expect(line(answered(problem, body, 409))).toBe(
    "CreateOrder  POST /orders  409 execution in progress  order-0001  6 ms",
  );
  expect(line(answered(problem, "no JSON", 409))).toBe("CreateOrder  POST /orders  409  order-0001  6 ms");
  expect(line(answered({}, body, 409))).toBe("CreateOrder  POST /orders  409  order-0001  6 ms");
});

it("leaves out missing parts, quotes, and the end of a long key", () => {
  expect(line(answered({}, "", 200), "")).toBe("CreateOrder  POST /orders  200  6 ms");
  expect(line(answered({}), '"quoted"')).toContain("  quoted  ");
  expect(line(answered({}), "k".repeat(255))).toContain(`  ${"k".repeat(60)}…  `);
});
