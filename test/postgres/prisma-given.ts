// A client of Prisma as `prisma generate` makes it (7.10, generator prisma-client) of the schema below: its types are written by hand.
import { createRequire } from "node:module";
import { PrismaPg } from "@prisma/adapter-pg";
import * as runtime from "@prisma/client/runtime/client";
import { afterAll } from "vitest";
import { addressOf, closeAll } from "./given.ts";

export interface PrismaOrders {
  order: {
    create(query: { data: { id: string; seats?: number } }): Promise<unknown>;
    count(): Promise<number>;
  };
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): Promise<T>;
}

export interface PrismaShop extends PrismaOrders {
  $transaction<T>(work: (transaction: PrismaOrders) => Promise<T>, options?: object): Promise<T>;
  $disconnect(): Promise<void>;
}

const inlineSchema = `
generator client {
  provider = "prisma-client"
}
datasource db {
  provider = "postgresql"
}
model Order {
  id    String @id
  seats Int    @default(1)
  @@map("prisma_orders")
}
`;

/** Made by Prisma of the schema. */
const DATA_MODEL =
  '{"models":{"Order":{"fields":[{"name":"id","kind":"scalar","type":"String"},{"name":"seats","kind":"scalar","type":"Int"}],"dbName":"prisma_orders","schema":null}},"enums":{},"types":{}}';
const STRINGS =
  '["where","Order.findUnique","Order.findUniqueOrThrow","orderBy","cursor","Order.findFirst","Order.findFirstOrThrow","Order.findMany","data","Order.createOne","Order.createMany","Order.createManyAndReturn","Order.updateOne","Order.updateMany","Order.updateManyAndReturn","create","update","Order.upsertOne","Order.deleteOne","Order.deleteMany","having","_count","_avg","_sum","_min","_max","Order.groupBy","Order.aggregate","AND","OR","NOT","id","seats","equals","in","notIn","lt","lte","gt","gte","not","contains","startsWith","endsWith","set","increment","decrement","multiply","divide"]';
const GRAPH =
  "KwsQBRwAACIAMB0AAAQAEB4AACIAMB8BAAAAASACACQAIQEAAAABACABAAAAAQAgBRwAACIAMB0AAAQAEB4AACIAMB8BACMAISACACQAIQADAAAABAAgAwAABQAwBAAAAQAgAwAAAAQAIAMAAAUAMAQAAAEAIAMAAAAEACADAAAFADAEAAABACACHwEAAAABIAIAAAABAQgAAAkAIAIfAQAAAAEgAgAAAAEBCAAACwAwAQgAAAsAMAIfAQAqACEgAgArACECAAAAAQAgCAAADgAgAh8BACoAISACACsAIQIAAAAEACAIAAAQACACAAAABAAgCAAAEAAgAwAAAAEAIA8AAAkAIBAAAA4AIAEAAAABACABAAAABAAgBRUAACUAIBYAACYAIBcAACkAIBgAACgAIBkAACcAIAUcAAAaADAdAAAXABAeAAAaADAfAQAbACEgAgAcACEDAAAABAAgAwAAFgAwFAAAFwAgAwAAAAQAIAMAAAUAMAQAAAEAIAUcAAAaADAdAAAXABAeAAAaADAfAQAbACEgAgAcACEOFQAAHgAgGAAAIQAgGQAAIQAgIQEAAAABIgEAAAAEIwEAAAAEJAEAAAABJQEAAAABJgEAAAABJwEAAAABKAEAIAAhKQEAAAABKgEAAAABKwEAAAABDRUAAB4AIBYAAB8AIBcAAB4AIBgAAB4AIBkAAB4AICECAAAAASICAAAABCMCAAAABCQCAAAAASUCAAAAASYCAAAAAScCAAAAASgCAB0AIQ0VAAAeACAWAAAfACAXAAAeACAYAAAeACAZAAAeACAhAgAAAAEiAgAAAAQjAgAAAAQkAgAAAAElAgAAAAEmAgAAAAEnAgAAAAEoAgAdACEIIQIAAAABIgIAAAAEIwIAAAAEJAIAAAABJQIAAAABJgIAAAABJwIAAAABKAIAHgAhCCEIAAAAASIIAAAABCMIAAAABCQIAAAAASUIAAAAASYIAAAAAScIAAAAASgIAB8AIQ4VAAAeACAYAAAhACAZAAAhACAhAQAAAAEiAQAAAAQjAQAAAAQkAQAAAAElAQAAAAEmAQAAAAEnAQAAAAEoAQAgACEpAQAAAAEqAQAAAAErAQAAAAELIQEAAAABIgEAAAAEIwEAAAAEJAEAAAABJQEAAAABJgEAAAABJwEAAAABKAEAIQAhKQEAAAABKgEAAAABKwEAAAABBRwAACIAMB0AAAQAEB4AACIAMB8BACMAISACACQAIQshAQAAAAEiAQAAAAQjAQAAAAQkAQAAAAElAQAAAAEmAQAAAAEnAQAAAAEoAQAhACEpAQAAAAEqAQAAAAErAQAAAAEIIQIAAAABIgIAAAAEIwIAAAAEJAIAAAABJQIAAAABJgIAAAABJwIAAAABKAIAHgAhAAAAAAABLAEAAAABBSwCAAAAAS0CAAAAAS4CAAAAAS8CAAAAATACAAAAAQAAAAAFFQAGFgAHFwAIGAAJGQAKAAAAAAAFFQAGFgAHFwAIGAAJGQAKAQIBAgMBBQYBBgcBBwgBCQoBCgwCCw0DDA8BDRECDhIEERMBEhQBExUCGhgFGxkL";

const require = createRequire(import.meta.url);
const ofRuntime = (file: string) => require(`@prisma/client/runtime/${file}`);

const config = {
  previewFeatures: [],
  clientVersion: "7.10.0",
  engineVersion: "0edf323efd1d98336f3f0a68684b56f689b900d3",
  activeProvider: "postgresql",
  inlineSchema,
  runtimeDataModel: JSON.parse(DATA_MODEL),
  parameterizationSchema: { strings: JSON.parse(STRINGS), graph: GRAPH },
  compilerWasm: {
    getRuntime: async () => ofRuntime("query_compiler_fast_bg.postgresql.js"),
    getQueryCompilerWasmModule: async () => {
      const { wasm } = ofRuntime("query_compiler_fast_bg.postgresql.wasm-base64.js");
      const { Module } = Reflect.get(globalThis, "WebAssembly");
      return new Module(Buffer.from(wasm, "base64"));
    },
    importName: "./query_compiler_fast_bg.js",
  },
};

const closing: (() => Promise<unknown>)[] = [];
afterAll(() => closeAll(closing));

/** One that closes after the file. The table of its orders is in `schema`. Its transactions end after `timeout` (ms). */
export function prismaOf(port: number, schema = "public", timeout = 20_000): PrismaShop {
  const Client = runtime.getPrismaClient(config as never) as unknown as new (options: object) => PrismaShop;
  const adapter = new PrismaPg({ ...addressOf(port), max: 10 }, { schema });
  const prisma = new Client({ adapter, transactionOptions: { maxWait: 20_000, timeout } });
  closing.push(() => prisma.$disconnect());
  return prisma;
}
