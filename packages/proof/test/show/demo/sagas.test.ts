// The sagas of the demo: their plan, their kills, and the control of their verdict.
import { describe, expect, it } from "vitest";
import { deriveChildKey } from "../../../../../lib/core/child-key.ts";
import { identify } from "../../../../../lib/core/identity.ts";
import { planDemo } from "../../../show/demo/plan.ts";
import { createSagaKills } from "../../../show/demo/sagas/saga-kills.ts";
import type { SagasSeen } from "../../../show/demo/sagas/saga-observation.ts";
import { SAGA_EFFECTS, sagaKillName } from "../../../show/demo/sagas/saga-plan.ts";
import { sagaRows } from "../../../show/demo/sagas/saga-rows.ts";
import { sagaProblems } from "../../../show/demo/sagas/saga-verdict.ts";
import { nameOf } from "../../../show/demo/seen.ts";
import { findProblems } from "../../../show/demo/verdict.ts";
import { honestRun } from "./given.ts";

const plan = planDemo({ orders: 120, duplicates: 1, seed: 3 });
const { sagas } = plan;
const honest = honestRun(plan).sagas;
const sagaKilled = (name: string) => sagas.find(({ kill }) => kill && sagaKillName(kill) === name)!;
const problemsOf = (change: Partial<SagasSeen>) => sagaProblems(sagas, { ...honest, ...change });
const charge = honest.ledger.find(({ chargeId, refundedBy }) => chargeId && !refundedBy)!;
const refunded = honest.ledger.find(({ refundedBy }) => refundedBy)!;
const shipment = honest.ledger.find(({ shipped }) => shipped)!;

describe("planSagas", () => {
  it("kills a process before and after each effect of the saga, forward and back", () => {
    const names = sagas.flatMap(({ kill }) => (kill ? [sagaKillName(kill)] : []));

    const all = Object.keys(SAGA_EFFECTS).flatMap((effect) => [
      `killed before ${effect}`,
      `killed after ${effect}`,
    ]);
    expect(names.sort()).toEqual(all.sort());
    expect(new Set(sagas.map(nameOf)).size).toBe(sagas.length);
  });

  it("has every kind in the smallest plan too", () => {
    const smallest = planDemo({ orders: 1, duplicates: 1, seed: 1 }).sagas;

    expect(smallest.map(({ end, kill }) => ({ end, kill }))).toEqual(
      sagas.map(({ end, kill }) => ({ end, kill })),
    );
  });
});

describe("createSagaKills", () => {
  const requestOf = (key: string, step?: string) => ({
    operation: "TransactWriteItems",
    sequence: 1,
    body: {
      TransactItems: [
        { Update: { Key: { pk: { S: key } }, ...(step && { ExpressionAttributeNames: { "#name": step } }) } },
      ],
    },
  });

  it.each([
    ["before", "throttle"],
    ["after", "pass"],
  ])("kills once %s a write of the saga that it is planned for", (when, fault) => {
    const saga = sagaKilled(`killed ${when} stock`);
    const { recordKey } = identify("place-order", saga.tenant, saga.key);
    const kills = createSagaKills(sagas);
    const asked: string[] = [];
    const isThere = [false, true, true];
    kills.arm((each) => {
      asked.push(nameOf(each));
      return isThere.shift()!;
    });

    const write = () => kills.decide(requestOf(recordKey, "place-order/stock"));

    expect(kills.decide(requestOf(recordKey, "place-order/order"))).toBeUndefined();
    expect([write(), write(), write()]).toEqual([undefined, fault, undefined]);
    expect(asked).toEqual([nameOf(saga), nameOf(saga)]);
    expect([...kills.killed]).toEqual([saga]);
  });

  it("lets the charge happen and its response be lost, if it kills after it", async () => {
    const saga = sagaKilled("killed after charge");
    const key = deriveChildKey(identify("place-order", saga.tenant, saga.key), "place-order/charge");
    const kills = createSagaKills(sagas);
    kills.arm(() => true);
    const carried: string[] = [];
    const handOn = async ({ path }: { readonly path: string }) => {
      carried.push(path);
      return { status: 201, body: "" };
    };
    const charges = kills.carrying((request) => handOn({ path: `${request.path} with disturbances` }));
    const ask = (method: string, path: string) =>
      charges({ method, path, headers: { "idempotency-key": key }, body: "" }, handOn);

    expect(await ask("POST", "/charges")).toBe("no-answer");
    for (const [method, path] of [
      ["GET", "/charges?key=k"],
      ["POST", "/charges"],
      ["POST", "/refunds"],
    ] as const) {
      expect(await ask(method, path)).toEqual({ status: 201, body: "" });
    }
    expect(carried).toEqual(["/charges", "/charges?key=k", "/charges with disturbances", "/refunds"]);
    expect(kills.lookUps).toBe(1);
  });
});

describe("sagaProblems", () => {
  it("finds none if all sagas are done or undone, and the rows of the table are right", () => {
    expect(problemsOf({})).toEqual([]);
    expect(sagaRows(sagas, honest).filter(({ count, due }) => due !== undefined && count !== due)).toEqual(
      [],
    );
  });

  it("fails the demo", () => {
    const broken = { ...honestRun(plan), sagas: { ...honest, reserved: honest.reserved + 1 } };

    expect(findProblems(plan, broken)).toHaveLength(1);
  });

  it.each<[what: string, change: Partial<SagasSeen>, problem: RegExp]>([
    [
      "a second charge",
      { ledger: [...honest.ledger, { ...charge, chargeId: "2" }] },
      /at most 1 charge, found 2/,
    ],
    [
      "a charge that nobody gave back",
      {
        ledger: honest.ledger.map((each) => (each === refunded ? { ...each, refundedBy: undefined } : each)),
      },
      /expected 0 charges that are kept, found 1/,
    ],
    [
      "a refund of what is shipped",
      { ledger: honest.ledger.map((each) => (each === charge ? { ...each, refundedBy: "r" } : each)) },
      /expected 1 charges that are kept, found 0/,
    ],
    ["a second shipment", { ledger: [...honest.ledger, shipment] }, /expected 1 shipments, found 2/],
    [
      "a shipment of no order",
      { ledger: [...honest.ledger, { ...shipment, orderId: "none" }] },
      /saga of order none: was shipped, and is not in the table/,
    ],
    ["pieces that are reserved for nobody", { reserved: honest.reserved + 3 }, /^sagas: pieces reserved are/],
    ["a second order", { rows: [...honest.rows, honest.rows[0]!] }, /expected 1 orders, found 2/],
    [
      "an order that is neither placed nor canceled",
      { rows: honest.rows.map((row, index) => (index === 0 ? { ...row, state: "created" } : row)) },
      /expected 1 orders that are paid, found 0/,
    ],
    [
      "two answers",
      { answers: honest.answers.map((each, index) => (index === 0 ? { ...each, body: "other" } : each)) },
      /expected 1 answer, got 2 different ones/,
    ],
    [
      "a client that gets a 503",
      { endings: honest.endings.map((each, index) => (index === 0 ? { ...each, status: 503 } : each)) },
      /expected the end 201, got 503/,
    ],
    [
      "a kill that did not happen",
      { killed: honest.killed.slice(1) },
      /killed after charge, which did not happen/,
    ],
  ])("finds %s", (_, change, problem) => {
    expect(problemsOf(change).join("\n")).toMatch(problem);
  });
});
