// What a module keeps in its variables: it hides defects where all runs share it, and dies with its environment where they do not.
import "../../../../test/kit/shop/environment.ts";
import { randomUUID } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient, GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { describe, expect, it } from "vitest";
import { explore } from "../../lib/explorer/explore.ts";
import { putRow, shop } from "./seeded-bugs/control.ts";

const TableName = process.env.ORDERS_TABLE;
const database = DynamoDBDocumentClient.from(new DynamoDBClient());

function rememberingHandler() {
  const done = new Set<string>();
  return async ({ id }: { id: string }) => {
    if (done.has(id)) return;
    await database.send(new PutCommand({ TableName, Item: { tenant: "acme", id: randomUUID() } }));
    done.add(id);
  };
}

function cachingHandler() {
  let settings: unknown;
  return async ({ id }: { id: string }) => {
    const Key = { tenant: "acme", id: "settings" };
    settings ??= (await database.send(new GetCommand({ TableName, Key }))).Item;
    await database.send(new PutCommand({ TableName, Item: { tenant: "acme", id, settings } }));
  };
}

const cached = { ...shop, setUp: putRow({ tenant: "acme", id: "settings", currency: "EUR" }) };

describe("explore, of a handler whose module remembers", () => {
  it("rejects one that behaves differently the second time, and says what to do", async () => {
    await expect(explore(rememberingHandler(), { id: "a" }, shop)).rejects.toThrow(
      "does different things in two undisturbed runs: 1 of item orders, then 0; if its module remembers the first run, make a new handler for each environment (perEnvironment: true)",
    );
  });

  it("finds that an in-memory map doesn't make a handler idempotent, if each environment has its own", async () => {
    const report = await explore(rememberingHandler, { id: "a" }, { ...shop, perEnvironment: true });

    expect(report.findings.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["duplicate-afterwards", "1 crash-after"]),
    );
  });

  it("explores the requests of a warm module if all runs share it, and reports which are left out", async () => {
    const report = await explore(cachingHandler(), { id: "a" }, cached);

    expect(report.points.map(({ label }) => label)).toEqual(["dynamodb PutItem orders"]);
    expect(report.firstOnly).toEqual(["dynamodb GetItem orders"]);
    expect(report.findings).toEqual([]);
  });

  it("explores the requests of a cold start too, if each environment has its own", async () => {
    const report = await explore(cachingHandler, { id: "a" }, { ...cached, perEnvironment: true });

    expect(report.points.map(({ label }) => label)).toEqual([
      "dynamodb GetItem orders",
      "dynamodb PutItem orders",
    ]);
    expect(report.firstOnly).toEqual([]);
    expect(report.findings).toEqual([]);
  });
});
