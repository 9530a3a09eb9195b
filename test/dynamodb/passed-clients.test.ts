// Clients that a user passes: whatever their settings, each request is the one that `client.send` makes.
import { gunzipSync, gzipSync } from "node:zlib";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Connection } from "../../lib/dynamodb/connection.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import type { ClientOptions } from "../../lib/dynamodb/options.ts";
import { KEYS } from "./client-rows.ts";
import { type Answer, ClientsWorld, loadOver, SDKS, type Sdk, secretOf } from "./clients-world.ts";

const world = new ClientsWorld();

beforeAll(() => world.open());

afterAll(() => world.close());

const base = {
  region: "eu-central-1",
  credentials: { accessKeyId: "ENV", secretAccessKey: secretOf("ENV"), sessionToken: "token" },
};

const turns =
  <T>(...values: readonly T[]): (() => Promise<T>) =>
  async () =>
    values[turns.count++ % values.length]!;
turns.count = 0;

const unavailable: Answer = { status: 503, body: "{}" };
const tokenOf = (count: number) => ({ getRetryCount: () => count, getRetryDelay: () => 0 });

/** Each makes the settings of a client, afresh. */
const SETTINGS: Readonly<Record<string, () => object>> = {
  "none but a Region": () => ({}),
  "D1: an endpoint that fails over": () => ({
    endpoint: turns("https://a.example.com", "https://b.example.com"),
  }),
  "D1: a Region that fails over": () => ({ region: turns("eu-central-1", "eu-west-1") }),
  "D1: FIPS that is switched on": () => ({ region: "us-east-1", useFipsEndpoint: turns(false, true) }),
  "D1: dual stack that is switched on": () => ({ useDualstackEndpoint: turns(false, true) }),
  "D1: an account id mode that changes": () => ({
    credentials: { ...base.credentials, accountId: "123456789012" },
    accountIdEndpointMode: turns("preferred", "disabled"),
  }),
  "D1: an endpoint provider that fails over": () => ({
    endpointProvider: () => ({ url: new URL(`https://${turns.count++ % 2 ? "a" : "b"}.example.com`) }),
  }),
  "D1: credentials that rotate": () => ({
    credentials: async () => {
      const name = `KEY${turns.count++}`;
      return { accessKeyId: name, secretAccessKey: secretOf(name), expiration: new Date(0) };
    },
  }),
  "an endpoint as text": () => ({ endpoint: "http://localhost:8000" }),
  "an endpoint with a path": () => ({ endpoint: "https://gateway.example.com/aws" }),
  "an endpoint with headers": () => ({
    endpoint: { url: new URL("https://gateway.example.com/"), headers: { "x-gateway": ["1"] } },
  }),
  "D5: a signing Region": () => ({ signingRegion: "us-west-2" }),
  "D5: a signing name": () => ({ signingName: "dax" }),
  "D5: signing without escaping": () => ({
    signingEscapePath: false,
    endpoint: "https://gateway.example.com/a%20b",
  }),
  "D5: an empty session token": () => ({ credentials: { ...base.credentials, sessionToken: "" } }),
  "D5: a session token of null": () => ({ credentials: { ...base.credentials, sessionToken: null } }),
  "a signer that signs nothing": () => ({ signer: { sign: async (request: unknown) => request } }),
  "a system clock that is off": () => ({ systemClockOffset: 3_600_000 }),
  "one attempt": () => ({ maxAttempts: 1 }),
  "adaptive retries": () => ({ retryMode: "adaptive" }),
  "D7: a retry strategy that reads the response": () => ({
    retryStrategy: {
      acquireInitialRetryToken: async () => tokenOf(0),
      refreshRetryTokenForRetry: async (
        token: ReturnType<typeof tokenOf>,
        { error }: { error: { $response: { statusCode: number } } },
      ) => {
        if (error.$response.statusCode !== 503 || token.getRetryCount() > 0) throw new Error("enough");
        return tokenOf(1);
      },
      recordSuccess: () => undefined,
    },
  }),
  "D7: a retry strategy of the first version": () => ({
    retryStrategy: {
      mode: "own",
      retry: (next: (args: unknown) => unknown, args: unknown) => next(args),
    },
  }),
  "a name of the application": () => ({ userAgentAppId: "shop", customUserAgent: "shop/1.0" }),
  "a middleware cache": () => ({ cacheMiddleware: true }),
  "a logger": () => ({ logger: { debug() {}, info() {}, warn() {}, error() {}, trace() {} } }),
  "D4: a handler that reads the second argument, and clones": () => ({
    requestHandler: handlerOf(async (inner, request, options) => {
      if (typeof request.clone !== "function" || !("abortSignal" in Object(options) || options)) {
        throw new Error("not the SDK's request");
      }
      return inner.handle(request.clone() as never, options);
    }),
  }),
  "D4: a handler that decompresses": () => ({
    requestHandler: handlerOf(async (inner, request, options) => {
      const { response } = await inner.handle(request as never, options);
      response.headers["x-amz-crc32"] = "1";
      const chunks: Buffer[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      return { response: { ...response, body: gunzipSync(gzipSync(Buffer.concat(chunks))) } };
    }),
  }),
  "timeouts of its handler": () => ({ requestHandler: { requestTimeout: 2000 } }),
};

interface Request {
  clone?(): unknown;
}

function handlerOf(
  handle: (inner: NodeHttpHandler, request: Request, options?: object) => Promise<{ response: unknown }>,
): object {
  const inner = new NodeHttpHandler();
  return {
    metadata: inner.metadata,
    handle: (request: Request, options?: object) => handle(inner, request, options),
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

/** What people do to a client that they have made, or to all clients. Returns what undoes it. */
const CHANGES: Readonly<
  Record<string, (client: DynamoDBClient, seen: string[]) => (() => void) | undefined>
> = {
  "X-Ray, which adds middleware": ({ middlewareStack }, seen) => {
    middlewareStack.add(
      (next, context) => (args) => {
        seen.push(`${context.commandName}`);
        return next(args);
      },
      { step: "build", name: "XRay" },
    );
    return undefined;
  },
  "middleware in place of the SDK's own": ({ middlewareStack }, seen) => {
    middlewareStack.add(
      (next, context) => (args) => {
        seen.push(`${context.commandName}`);
        return next(args);
      },
      { step: "initialize", name: "loggerMiddleware", override: true },
    );
    return undefined;
  },
  "a stack whose `concat` is replaced": ({ middlewareStack }, seen) => {
    const concat = middlewareStack.concat.bind(middlewareStack);
    middlewareStack.concat = (...from) => {
      seen.push("concat");
      return concat(...from) as never;
    };
    return undefined;
  },
  "`send` of the client replaced": (client, seen) => {
    const send = client.send.bind(client) as (...all: unknown[]) => unknown;
    client.send = ((...all: unknown[]) => {
      seen.push(Object(all[0]).constructor.name);
      return send(...all);
    }) as never;
    return undefined;
  },
};

const INPUTS = [
  ["PutItem", { TableName: "records", Item: { pk: { S: "1" }, b: { B: new Uint8Array([0, 255]) } } }],
  ["GetItem", { TableName: "records", Key: { pk: { S: "1" } } }],
  ["UpdateItem", { TableName: "records", Key: { pk: { S: "1" } } }],
] as const;

async function outcomeOf(send: (index: number) => Promise<unknown>): Promise<unknown[]> {
  turns.count = 0;
  const ends: unknown[] = [];
  for (const index of INPUTS.keys()) {
    const end = send(index).then(
      () => "done",
      ({ name, message }: Error) => `${name}: ${message}`,
    );
    ends.push(await end);
  }
  return [...ends, ...world.seen.map(({ date: _, ...request }) => request)];
}

describe.each(SDKS)("H94: a client of %s that is passed to the store", (name) => {
  let connect: (options: ClientOptions) => Connection;
  let sdk: Sdk;

  beforeAll(async () => {
    ({ connect, sdk } = await loadOver(name));
  });

  const commandOf = (index: number) => {
    const [operation, input] = INPUTS[index]!;
    const Command = sdk[`${operation}Command`] as Sdk["PutItemCommand"];
    return new Command(input as never);
  };
  const sendOver = (connection: Connection) => (index: number) => {
    const [operation, input] = INPUTS[index]!;
    return connection.send(operation, input as never);
  };

  it.each(Object.entries(SETTINGS))("sends the same as client.send: %s", async (_, settings) => {
    const row = { answers: [unavailable] };
    const make = () => new sdk.DynamoDBClient({ ...base, ...settings() } as never);
    const expected = await world.during(row, () => {
      const client = make();
      return outcomeOf((index) => client.send(commandOf(index)));
    });
    const found = await world.during(row, () => outcomeOf(sendOver(connect({ client: make() }))));

    expect(found).toEqual(expected);
    expect(found.length).toBeGreaterThan(INPUTS.length);
  });

  it.each(Object.entries(CHANGES))("D3: shows every request to %s", async (_, change) => {
    const seen: string[] = [];
    await world.during({}, async () => {
      const client = new sdk.DynamoDBClient(base);
      const connection = connect({ client });
      change(client, seen);
      await outcomeOf(sendOver(connection));
    });

    expect(seen).toHaveLength(INPUTS.length);
  });
});

it("D3: goes through a document client, and the middleware of the client under it", async () => {
  const { connect, sdk } = await loadOver("@aws-sdk/client-dynamodb");
  const seen: string[] = [];
  await world.during({}, async () => {
    const client = new sdk.DynamoDBClient(base);
    const connection = connect({ client: DynamoDBDocumentClient.from(client) });
    CHANGES["X-Ray, which adds middleware"]!(client, seen);
    await connection.send(...INPUTS[0]);
  });

  expect(seen).toEqual(["PutItemCommand"]);
});

describe("a client of another version of the SDK", () => {
  it("D8: works, or is refused with both versions when it is passed", async () => {
    const results: string[] = [];
    for (const ours of SDKS) {
      const { connect } = await loadOver(ours);
      for (const theirs of SDKS) {
        const { DynamoDBClient } = (await import(theirs)) as Sdk;
        await world.during({ env: KEYS }, async () => {
          const client = new DynamoDBClient(base);
          try {
            const connection = connect({ client });
            await connection.send(...INPUTS[0]);
            results.push(`${ours} sends over ${theirs}: ${world.seen[0]?.isVerified}`);
          } catch (error) {
            results.push(`${ours} refuses ${theirs}: ${(error as Error).message}`);
          }
        });
      }
    }

    const refusals = results.filter((result) => result.includes("refuses"));
    expect(refusals).toHaveLength(2);
    for (const refusal of refusals) {
      expect(refusal).toMatch(/refuses client-dynamodb-oldest: `client` .*3\.1162\.0 and .*3\.705\.0/);
    }
    expect(results.filter((result) => result.endsWith(": true"))).toHaveLength(7);
  });

  it("asks a double that has `send` and nothing else", async () => {
    const seen: unknown[] = [];
    const send = async (command: { constructor: { name: string } }) => {
      seen.push(command.constructor.name);
      return {};
    };

    await new DynamoDBStore({ tableName: "records", client: { config: {}, send } as never }).find("key", {
      consistent: true,
    });

    expect(seen).toEqual(["GetItemCommand"]);
  });
});
