// What the log says of an answer with 5xx: everything where nobody observes, and nothing twice.

import middy from "@middy/core";
import { emfMetrics, httpIdempotency, httpIdempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { beforeEach, describe, expect, inject, it, vi } from "vitest";
import { LeanDynamoDB, DynamoDBStore as LeanStore } from "../../../lib/lean/index.ts";
import { clientError, failWith } from "../../kit/faults/faulty-client.ts";
import { connect } from "../../kit/tables.ts";
import { type Answer, given } from "../given.ts";
import { v2Event } from "./given.ts";

const log = vi.spyOn(console, "error").mockImplementation(() => {});
const event = () => v2Event({ headers: { "Idempotency-Key": "canary-5f2e" }, body: "canary-5f2e" });
const never = async () => ({ statusCode: 201 });

beforeEach(() => void log.mockClear());

describe.each(inject("dynamodbEngines"))("on $name, a table that is missing", ({ endpoint }) => {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const lean = new LeanDynamoDB({ region: "local", endpoint, credentials });
  const tableName = "no-such-table";

  it.each([
    ["through the SDK", () => new DynamoDBStore({ tableName, client: connect(endpoint) })],
    ["by the lean client", () => new LeanStore({ tableName, client: lean })],
  ])("is in the log by name and action, asked %s, and not in the answer", async (_, store) => {
    const { options, context } = given();
    const { observe: _observe, ...unobserved } = options;
    const handler = httpIdempotent(never, { ...unobserved, store: store(), scope: "public" });

    const answer = (await handler(event(), context())) as unknown as Answer;

    expect(answer).toMatchObject({ statusCode: 500 });
    expect(answer.headers).not.toHaveProperty("Retry-After");
    expect(answer.body).not.toMatch(/no-such-table|PutItem|ResourceNotFound/);
    expect(log.mock.calls).toHaveLength(1);
    expect(JSON.parse(String(log.mock.calls[0]?.[0]))).toEqual({
      level: "ERROR",
      code: "STORE_UNAVAILABLE",
      status: 500,
      operation: options.operation,
      action: "PutItem",
      table: tableName,
      message: expect.stringMatching(
        /refused PutItem on no-such-table \(ResourceNotFoundException: .+\), and will refuse it again/,
      ),
    });
    expect(String(log.mock.calls)).not.toContain("canary");
  });
});

describe("an answer with 5xx", () => {
  const ARN = "arn:aws:dynamodb:eu-central-1:123456789012:table/records";
  const client = connect("http://127.0.0.1:1", { maxAttempts: 1 });
  const store = new DynamoDBStore({ tableName: "records", client });
  const denied = clientError("AccessDeniedException", {
    message: `not authorized to perform: dynamodb:PutItem on ${ARN}`,
  });
  const unobserved = () => {
    const { options, context } = given();
    const { observe: _observe, ...rest } = options;
    return { options: { ...rest, store, scope: "public" } as const, context };
  };

  it("names a right that is missing in the log, and neither ARN nor account in the body, in Middy too", async () => {
    failWith(client, denied);
    const { options, context } = unobserved();
    const handler = middy().use(httpIdempotency(options)).handler(never);

    const answer = (await handler(event() as never, context() as never)) as Answer;

    expect(answer.statusCode).toBe(500);
    expect(JSON.stringify(answer)).not.toMatch(/arn:|123456789012|records|PutItem/);
    expect(String(log.mock.calls)).toContain(`dynamodb:PutItem on ${ARN}`);
  });

  it.each([
    ["ThrottlingException", 400, 503, "1"],
    ["InternalServerError", 500, 503, "1"],
    ["ExpiredTokenException", 400, 500, undefined],
    ["AccessDeniedException", 400, 500, undefined],
    ["ResourceNotFoundException", 400, 500, undefined],
  ])("after %s with %i is %i, with Retry-After %s", async (name, status, statusCode, retryAfter) => {
    failWith(client, clientError(name, {}, status));
    const { options, context } = unobserved();

    const answer = (await httpIdempotent(never, options)(event(), context())) as unknown as Answer;

    expect(answer.statusCode).toBe(statusCode);
    expect(answer.headers?.["Retry-After"]).toBe(retryAfter);
    expect(log.mock.calls).toHaveLength(1);
  });

  it("is not in the log if an observer got it; metrics include the store's error", async () => {
    failWith(client, denied);
    const { options, context } = unobserved();
    const lines: string[] = [];
    const observe = emfMetrics({ write: (line) => lines.push(line) });

    await httpIdempotent(never, { ...options, observe })(event(), context());

    expect(log.mock.calls).toEqual([]);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        decision: "store-failed",
        storeError: expect.stringContaining("PutItem on records"),
      }),
    ]);
  });

  it("is in the log although there is an observer, if no decision reports the error", async () => {
    const { options, context } = given();
    const handler = httpIdempotent(async () => ({ statusCode: 201, headers: new Headers(), body: "" }), {
      ...options,
      scope: "public",
    });

    await handler(event(), context());

    expect(log.mock.calls.map(([line]) => JSON.parse(String(line)).code)).toEqual(["RESPONSE_NOT_STORABLE"]);
  });
});
