import { randomUUID } from "node:crypto";
import { type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { afterAll, beforeAll, describe, expect, inject, it, test, vi } from "vitest";
import { connect, createTable } from "../kit/tables.ts";

interface Answer {
  readonly status: number | undefined;
  readonly body: Record<string, unknown>;
}

describe.each(inject("dynamodbEngines"))("sandbox-gateway on $name", ({ endpoint }) => {
  let client: DynamoDBClient;
  let TableName: string;
  let handler: typeof import("../../functions/sandbox-gateway.ts").handler;

  beforeAll(async () => {
    client = connect(endpoint);
    TableName = await createTable(client, "idempotencyKey");
    vi.stubEnv("LEDGER_TABLE", TableName);
    vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", endpoint);
    vi.stubEnv("AWS_REGION", "eu-central-1");
    vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
    vi.resetModules();
    ({ handler } = await import("../../functions/sandbox-gateway.ts"));
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    client.destroy();
  });

  async function ask(key: string | undefined, body: unknown): Promise<Answer> {
    const answer = await handler({
      headers: key ? { "idempotency-key": key } : {},
      body: typeof body === "string" ? body : JSON.stringify(body),
    } as unknown as APIGatewayProxyEventV2);
    return { status: answer.statusCode, body: JSON.parse(answer.body ?? "") };
  }

  async function ledgerOf(orderId: string): Promise<Record<string, unknown>[]> {
    const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
    return Items.map((item) => unmarshall(item)).filter((item) => item.orderId === orderId);
  }

  const chargeOf = (card: string, amountCents = 500) => ({ orderId: randomUUID(), amountCents, card });

  it("charges once under a key, and gives every attempt the same answer", async () => {
    const key = randomUUID();
    const charge = chargeOf("card_ok");

    const answers = [await ask(key, charge), ...(await Promise.all([ask(key, charge), ask(key, charge)]))];

    const [{ chargeId, ...entry } = {}, ...others] = await ledgerOf(charge.orderId);
    expect(answers).toEqual(Array(3).fill({ status: 201, body: { chargeId } }));
    expect(entry).toEqual({
      ...charge,
      idempotencyKey: key,
      attempts: 3,
      chargedAt: expect.any(String),
    });
    expect(others).toEqual([]);
  });

  it("charges again under another key, so its ledger would show it", async () => {
    const charge = chargeOf("card_ok");

    const [first, second] = [await ask(randomUUID(), charge), await ask(randomUUID(), charge)];

    expect(first.body.chargeId).not.toBe(second.body.chargeId);
    expect(await ledgerOf(charge.orderId)).toHaveLength(2);
  });

  it("refuses a key that was used for another charge", async () => {
    const key = randomUUID();
    const charge = chargeOf("card_ok");
    await ask(key, charge);

    expect((await ask(key, { ...charge, amountCents: 501 })).status).toBe(422);
    expect((await ask(key, { ...charge, orderId: randomUUID() })).status).toBe(422);
    expect((await ask(key, { ...charge, card: "card_slow" })).status).toBe(422);
    expect(await ledgerOf(charge.orderId)).toMatchObject([{ attempts: 1, amountCents: 500 }]);
  });

  it("card_fails_first: fails twice before it charges", async () => {
    const key = randomUUID();
    const charge = chargeOf("card_fails_first");

    const failures = [await ask(key, charge), await ask(key, charge)];
    const before = await ledgerOf(charge.orderId);
    const answer = await ask(key, charge);

    expect(failures.map(({ status }) => status)).toEqual([500, 500]);
    expect(before).toEqual([expect.not.objectContaining({ chargeId: expect.anything() })]);
    expect(answer).toEqual({ status: 201, body: { chargeId: expect.any(String) } });
  });

  it("card_answer_lost: charges, and reports it to the second attempt only", async () => {
    const key = randomUUID();
    const charge = chargeOf("card_answer_lost");

    const lost = await ask(key, charge);
    const [charged] = await ledgerOf(charge.orderId);
    const answer = await ask(key, charge);

    expect(lost.status).toBe(504);
    expect(charged?.chargeId).toEqual(expect.any(String));
    expect(answer).toEqual({ status: 201, body: { chargeId: charged?.chargeId } });
  });

  test.each([
    ["card_declined", "insufficient funds"],
    ["card_of_nobody", "unknown card"],
  ])("%s: declines, whenever it is asked", async (card, reason) => {
    const key = randomUUID();
    const charge = chargeOf(card);

    const answers = [await ask(key, charge), await ask(key, charge)];

    expect(answers).toEqual(Array(2).fill({ status: 402, body: { reason } }));
    expect(await ledgerOf(charge.orderId)).toEqual([{ ...charge, idempotencyKey: key, attempts: 2 }]);
  });

  test.each([
    ["a request without a key", undefined, chargeOf("card_ok")],
    ["no JSON", "k", "orderId=1"],
    ["no order", "k", { amountCents: 500, card: "card_ok" }],
    ["an amount as text", "k", { ...chargeOf("card_ok"), amountCents: "500" }],
    ["half a cent", "k", chargeOf("card_ok", 0.5)],
    ["nothing", "k", chargeOf("card_ok", 0)],
    ["no card", "k", { ...chargeOf(""), card: undefined }],
  ])("refuses %s", async (_, key, body) => {
    expect((await ask(key, body)).status).toBe(400);
  });
});
