// The middleware in a cold process under AWS's runtime client, which is frozen as soon as it asks for more.
import { build } from "esbuild";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { answerOf, hostOf } from "../../packages/local/test/lambda/given.ts";
import { root } from "../kit/project.ts";
import { connect, createTable } from "../kit/tables.ts";

const SOURCE = `
  import middy from "@middy/core";
  import { idempotency, PermanentError } from "onceonly";
  import { DynamoDBStore } from "onceonly/dynamodb";

  const reported = [];
  let runs = 0;
  const once = idempotency({
    operation: "charge",
    store: new DynamoDBStore({ tableName: process.env.TABLE }),
    key: (event) => event.key,
    fingerprint: (event) => event.key,
    // Nobody waits for the release where an error hook throws: it can reach the table after the next claim.
    whenInProgress: { waitSeconds: 10 },
    observe: ({ decision }) => reported.push(decision),
  });
  const charge = async (event) => {
    runs++;
    if (event.fails === "finally") throw new PermanentError("sold out");
    if (event.fails) throw new Error("broken");
    return runs;
  };

  export const handler = async (event, context) => {
    const stack = middy().use(once).onError(() => {
      throw new Error("worse");
    });
    const charged = await stack.handler(process.env.REPORTS ? once.handler(charge) : charge)(event, context);
    return { charged, runs, reported };
  };`;

const kinds = [
  ["reports", { REPORTS: "yes" }],
  ["does not report", {}],
] as const;

describe.each(inject("dynamodbEngines"))("answers 4: under the runtime client, on $name", ({ endpoint }) => {
  let code: string;
  let table: string;
  beforeAll(async () => {
    table = await createTable(connect(endpoint));
    code = await bundled(SOURCE);
  });

  it.each(kinds)(
    "H51: no key stays nested after an error hook that throws; the handler %s",
    async (_, kind) => {
      const environment = { TABLE: table, AWS_ENDPOINT_URL_DYNAMODB: endpoint, ...kind };
      const host = await hostOf(code, { environment, timeoutMs: 20_000 });
      const call = (event: object) => host.invoke(JSON.stringify(event));
      const key = `${Math.random()}`;

      expect(await call({ key, fails: "once" })).toMatchObject({ outcome: "error", errorMessage: "worse" });
      const retried = answerOf(await call({ key }));
      const final = { key: `final ${key}`, fails: "finally" };
      expect(await call(final)).toMatchObject({ errorMessage: "worse" });
      const replayed = await call(final);
      const { runs, reported } = answerOf(await call({ key: `other ${key}` })) as {
        runs: number;
        reported: string[];
      };

      expect(retried).toMatchObject({ charged: 2, reported: ["released", "executed"] });
      expect(replayed).toMatchObject({ errorMessage: "worse" });
      expect(runs).toBe(4);
      expect(reported).toEqual(["released", "executed", "executed", "replayed", "executed"]);
    },
  );
});

async function bundled(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    external: ["@aws-sdk/*"],
  });
  return outputFiles[0]!.text;
}
