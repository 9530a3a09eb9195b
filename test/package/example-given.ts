// Two examples of the documents in a consumer's project: the first of docs/guides/middy.md, and the wrapper of docs/start/quick-start.md
// that needs no Middy. Each is called twice with one key.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { expect } from "vitest";
import { type Fence, typescriptFences } from "../kit/fences.ts";
import { type Printed, run } from "../kit/run.ts";
import { type OrderTables, startOrderTables } from "./example-world.ts";

export interface OrderExample {
  /** The first of docs/guides/middy.md. */
  readonly source: string;
  /** The one of the quick start that charges an order. */
  readonly wrapper: string;
  /** Writes it to `handler.js`. */
  transpile(project: string, format: "cjs" | "esm"): Promise<void>;
  /** Runs Node where the example finds its tables, and looks for one order more than before. */
  expectOneOrder(project: string, args: readonly string[]): Promise<Printed>;
  /** Runs Node on `charge.mjs` and the wrapper in this file, and looks for one charge. */
  expectOneCharge(project: string, args: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export async function startOrderExample(): Promise<OrderExample> {
  const [{ code: source }] = typescriptFences("docs/guides/middy.md") as [Fence];
  const { code: wrapper } = typescriptFences("docs/start/quick-start.md").find(({ code }) =>
    /^import \{[^}]*\bidempotent\b/.test(code),
  )!;
  const tables: OrderTables = await startOrderTables();

  return {
    source,
    wrapper,
    transpile: async (project, format) => {
      const { code } = await transform(source, { loader: "ts", format, target: "node20" });
      await writeFile(join(project, "handler.js"), code);
    },
    expectOneOrder: async (project, args) => {
      const environment = await tables.createEnvironment();
      const before = await tables.countOrders();

      const printed = await run(process.execPath, args, project, environment);

      expect(await tables.countOrders()).toBe(before + 1);
      return printed;
    },
    expectOneCharge: async (project, args) => {
      const environment = await tables.createEnvironment();

      const { stdout } = await run(process.execPath, args, project, environment);

      expect(JSON.parse(stdout)).toEqual({ answers: [{ charged: true }, { charged: true }], charges: 1 });
    },
    stop: () => tables.stop(),
  };
}

/** @param printed both answers, as JSON */
export function expectReplay(printed: string): void {
  const [first, second] = JSON.parse(printed);

  expect(first.statusCode).toBe(201);
  expect(second).toMatchObject({ statusCode: 201, body: first.body });
  expect(lowerCaseKeys(first.headers)).not.toHaveProperty("idempotent-replayed");
  expect(lowerCaseKeys(second.headers)).toHaveProperty("idempotent-replayed", "true");
}

function lowerCaseKeys(headers: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
