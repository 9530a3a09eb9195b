// Sagas on real engines: what they cost, what their record shows, and another function that goes on.
import { randomUUID } from "node:crypto";
import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { fakeClock } from "onceonly/testing";
import { describe, expect, inject, it } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import type { SagaStep } from "../../lib/saga/definition.ts";
import { saga } from "../../lib/saga/saga.ts";
import { countRequests } from "../kit/counting-client.ts";
import { connect, createOutboxTable } from "../kit/tables.ts";

type Step = SagaStep<unknown, DynamoDBWrite>;

/** A process that dies here, and who waits for that. */
const death = () => {
  let resume: () => void = () => {};
  const reached = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const die = () => {
    resume();
    return new Promise<never>(() => {});
  };
  return { reached, die };
};

describe.each(inject("dynamodbEngines"))("sagas on $name", ({ endpoint }) => {
  async function given() {
    const tableName = await createOutboxTable(connect(endpoint));
    const clock = fakeClock(Date.now());
    const log: string[] = [];
    const step = (name: string, more: Partial<Step> = {}): Step => ({
      name,
      run: () => log.push(name),
      compensate: () => log.push(`undo ${name}`),
      ...more,
    });
    /** A function of its own: with a client, a store and a definition of its own. */
    const deploy = (steps: readonly Step[]) => {
      const client = connect(endpoint);
      const store = new DynamoDBStore({ tableName, client });
      const place = saga<unknown, DynamoDBWrite>("place", steps);
      const options = { store, leaseSeconds: 30, renewLease: false, clock };
      return { client, call: (key: string) => place.start(options, key, {}) };
    };
    const record = async (key: string) => {
      const Key = { pk: { S: identify("place", "", key).recordKey } };
      return (await connect(endpoint).send(new GetItemCommand({ TableName: tableName, Key }))).Item;
    };
    const stepsOf = async (key: string) => {
      const steps = Object.entries((await record(key))?.steps?.M ?? {});
      return Object.fromEntries(steps.map(([name, { M }]) => [name, M?.state?.S]));
    };
    return { tableName, clock, log, step, deploy, record, stepsOf };
  }

  it("of n steps cost n + 2 requests, one more at most once, and a transaction if one commits", async () => {
    const { tableName, step, deploy, log } = await given();
    const put = { Put: { TableName: tableName, Item: { pk: "order-1" } } };
    const { client, call } = deploy([
      step("order", { run: ({ commit }) => commit("order-1", { writes: [put] }) }),
      step("stock"),
      step("charge", { atMostOnce: true }),
      step("mail"),
    ]);
    const counts = countRequests(client);

    await call("order-1");

    const updates = (count: number) => Array.from({ length: count }, () => "UpdateItem");
    expect(counts.commands).toEqual(["PutItem", "TransactWriteItems", ...updates(5)]);
    expect(log).toEqual(["stock", "charge", "mail"]);
  });

  it("H53: another function continues forward after the first one died, and each effect exists once", async () => {
    const { clock, log, step, deploy, stepsOf, record } = await given();
    const key = randomUUID();
    const others = [step("order"), step("stock")];
    const { reached, die } = death();
    void deploy([...others, step("charge", { run: die })]).call(key);
    await reached;
    expect(await stepsOf(key)).toEqual({ "place/order": "done", "place/stock": "done" });
    expect((await record(key))?.state?.S).toBe("in-progress");
    await clock.advance(36_000);

    await deploy([...others, step("charge")]).call(key);

    expect(log).toEqual(["order", "stock", "charge"]);
    expect((await record(key))?.state?.S).toBe("completed");
    expect(await stepsOf(key)).toEqual({});
  });

  it("H53: another function continues undoing after the first one died, and each is undone once", async () => {
    const { clock, log, step, deploy, stepsOf, record } = await given();
    const key = randomUUID();
    const refused = step("charge", {
      run: () => Promise.reject(new Error("refused")),
      didNotHappen: () => true,
      atMostOnce: true,
    });
    const { reached, die } = death();
    void deploy([step("order", { compensate: die }), step("stock"), refused]).call(key);
    await reached;
    expect(await stepsOf(key)).toEqual({
      "place/order": "done",
      "place/stock": "done",
      "place/charge": "undone",
      "place//turned-back": "done",
      "place/stock/compensate": "done",
      "place/order/compensate": "begun",
    });
    await clock.advance(36_000);

    const all = [step("order"), step("stock"), refused];
    await expect(deploy(all).call(key)).rejects.toMatchObject({
      name: "SagaCompensatedError",
      step: "charge",
    });
    await expect(deploy(all).call(key)).rejects.toMatchObject({ name: "SagaCompensatedError" });

    expect(log).toEqual(["order", "stock", "undo stock", "undo order"]);
    expect((await record(key))?.state?.S).toBe("failed");
  });
});
