// The client that the store makes itself: direct while the SDK is known and unchanged, otherwise through `send`.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as sdk from "@aws-sdk/client-dynamodb";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { DirectConnection } from "../../lib/dynamodb/direct-connection.ts";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { sdkConnection } from "../../lib/dynamodb/sdk-connection.ts";
import { restoreAll } from "../../packages/explorer/lib/simulator/patches/replace.ts";
import { patchSdkClients } from "../../packages/explorer/lib/simulator/patches/sdk-clients.ts";
import { KEYS } from "./client-rows.ts";
import { ClientsWorld, secretOf } from "./clients-world.ts";

const world = new ClientsWorld();
const ROW = { env: { ...KEYS, AWS_REGION: "eu-central-1" } };

beforeAll(() => world.open());
afterAll(() => world.close());

const INPUT = { TableName: "records", Key: { pk: { S: "1" } } };

const { prototype } = sdk.DynamoDBClient;
const root = Object.getPrototypeOf(prototype) as { send(...all: unknown[]): unknown };

type Seen = string[];

/** As tracers and mocks change all clients, in the way of each. Each returns what undoes it. */
const OBSERVERS: Readonly<Record<string, (seen: Seen) => () => void>> = {
  "OpenTelemetry and dd-trace, which wrap `send` of the base class": (seen) => {
    const { send } = root;
    root.send = function patchedSend(this: unknown, ...all: unknown[]) {
      seen.push("request");
      return send.apply(this, all);
    };
    return () => {
      root.send = send;
    };
  },
  "New Relic, which rewrites `send` in place": (seen) => {
    const { send } = root;
    Reflect.set(globalThis, "traced", () => seen.push("request"));
    const text = send.toString().replace("{", "{ globalThis.traced();");
    root.send = new Function(`return ({ ${text} }).send`)();
    return () => {
      root.send = send;
      Reflect.deleteProperty(globalThis, "traced");
    };
  },
  "aws-sdk-client-mock, which puts a stub on the class": (seen) => {
    Reflect.set(prototype, "send", async () => {
      seen.push("request");
      return {};
    });
    return () => Reflect.deleteProperty(prototype, "send");
  },
  "a proxy of `send`": (seen) => {
    const { send } = root;
    const apply = (target: typeof send, self: unknown, all: unknown[]) => {
      seen.push("request");
      return Reflect.apply(target, self, all);
    };
    root.send = new Proxy(send, { apply });
    return () => {
      root.send = send;
    };
  },
  "a patch of the command's prototype": (seen) => {
    const command = sdk.GetItemCommand.prototype;
    const { resolveMiddleware } = command;
    command.resolveMiddleware = function traced(...all) {
      seen.push("request");
      return resolveMiddleware.apply(this, all);
    };
    return () => Reflect.deleteProperty(command, "resolveMiddleware");
  },
  "a patch of all commands' base": (seen) => {
    let base = sdk.GetItemCommand.prototype as object;
    while (!Object.hasOwn(base, "resolveMiddlewareWithContext")) base = Object.getPrototypeOf(base);
    const { resolveMiddlewareWithContext } = base as { resolveMiddlewareWithContext: () => unknown };
    Reflect.set(base, "resolveMiddlewareWithContext", function traced(this: unknown, ...all: []) {
      seen.push("request");
      return resolveMiddlewareWithContext.apply(this, all);
    });
    return () => Reflect.set(base, "resolveMiddlewareWithContext", resolveMiddlewareWithContext);
  },
};

/** As tracers change the class that the module exports, so that each new client is changed. */
const CLASSES: Readonly<Record<string, (client: sdk.DynamoDBClient, seen: Seen) => void>> = {
  "adds middleware": ({ middlewareStack }, seen) =>
    middlewareStack.add(
      (next) => (args) => {
        seen.push("request");
        return next(args);
      },
      { step: "initialize", priority: "high", name: "NewRelicMiddleware" },
    ),
  "puts middleware in the place of the SDK's own": ({ middlewareStack }, seen) =>
    middlewareStack.add(
      (next) => (args) => {
        seen.push("request");
        return next(args);
      },
      { step: "initialize", name: "loggerMiddleware", override: true },
    ),
  "wraps `concat` of the stack, as OpenTelemetry does": ({ middlewareStack }, seen) => {
    const concat = middlewareStack.concat.bind(middlewareStack);
    middlewareStack.concat = (...from) => {
      seen.push("request");
      return concat(...from) as never;
    };
  },
  "wraps the request handler": ({ config }, seen) => {
    const handle = config.requestHandler.handle.bind(config.requestHandler);
    config.requestHandler.handle = ((...all: Parameters<typeof handle>) => {
      const [{ clone }, { abortSignal } = {}] = all as never as [
        { clone: unknown },
        { abortSignal?: unknown },
      ];
      seen.push(typeof clone === "function" && abortSignal === undefined ? "request" : "not the SDK's");
      return handle(...all);
    }) as never;
  },
  "wraps a provider": ({ config }, seen) => {
    const { region } = config;
    config.region = async () => {
      if (seen.length === 0) seen.push("request");
      return region();
    };
  },
  "has a signer": ({ config }, seen) => {
    const { signer } = config;
    config.signer = async (scheme) => {
      seen.push("request");
      return signer(scheme);
    };
  },
};

describe("H94: the client that the store makes itself", () => {
  it("is served directly, unless `direct` is false", async () => {
    const ways: unknown[] = [];
    for (const direct of [undefined, true, false]) {
      await world.during(ROW, async () => {
        const options = direct === undefined ? {} : { direct };
        await new DynamoDBStore({ tableName: "records", ...options }).find("key", { consistent: true });
        ways.push(world.seen[0]?.isThroughSdk);
      });
    }

    expect(ways).toEqual([false, false, true]);
  });

  it.each(Object.entries(OBSERVERS))("D3: shows every request to %s", async (_, observe) => {
    for (const isEarly of [true, false]) {
      const seen: Seen = [];
      await world.during(ROW, async () => {
        let undo = isEarly ? observe(seen) : undefined;
        const connection = sdkConnection({});
        if (!isEarly) {
          await connection.send("GetItem", INPUT);
          expect(world.seen.at(-1)?.isThroughSdk).toBe(false);
          undo = observe(seen);
        }
        await connection.send("GetItem", INPUT);
        await connection.send("GetItem", INPUT);
        undo?.();

        // The middleware of a command is resolved once for each client.
        expect(seen.length).toBeGreaterThanOrEqual(1);
        expect(seen.length).toBeLessThanOrEqual(2);
        await connection.send("GetItem", INPUT);
        expect(world.seen.at(-1)?.isThroughSdk).toBe(isEarly);
      });
    }
  });

  it.each(Object.entries(CLASSES))("D3: shows every request to a class that %s", async (_, change) => {
    const seen: Seen = [];
    class DynamoDBClient extends sdk.DynamoDBClient {
      constructor(config: object) {
        super(config);
        change(this, seen);
      }
    }
    vi.resetModules();
    vi.doMock("@aws-sdk/client-dynamodb", () => ({ ...sdk, DynamoDBClient }));
    const module = await import("../../lib/dynamodb/sdk-connection.ts");
    vi.doUnmock("@aws-sdk/client-dynamodb");

    await world.during(ROW, () => module.sdkConnection({}).send("GetItem", INPUT));

    expect(seen).toEqual(["request"]);
    expect(world.seen.map(({ isThroughSdk }) => isThroughSdk)).toEqual([true]);
  });

  it("D1: asks every provider for each request", async () => {
    let count = 0;
    const turns = <T>(...values: T[]) => vi.fn(async () => values[Math.min(count, values.length - 1)]!);
    const region = turns("eu-central-1", "eu-west-1");
    const useFipsEndpoint = turns(false, true);
    const credentials = turns(
      ...["A", "B"].map((name) => ({
        accessKeyId: name,
        secretAccessKey: secretOf(name),
        expiration: new Date(0),
      })),
    );
    await world.during({}, async () => {
      const client = new sdk.DynamoDBClient({
        ...{ region, useFipsEndpoint, credentials },
        requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
        cacheMiddleware: true,
      });
      const commands = {
        BatchExecuteStatement: sdk.BatchExecuteStatementCommand,
        BatchGetItem: sdk.BatchGetItemCommand,
        GetItem: sdk.GetItemCommand,
        PutItem: sdk.PutItemCommand,
        Query: sdk.QueryCommand,
        TransactWriteItems: sdk.TransactWriteItemsCommand,
        UpdateItem: sdk.UpdateItemCommand,
      };
      const connection = new DirectConnection(client, commands, () => ({ send: expect.unreachable }));
      await connection.send("GetItem", INPUT);
      count++;
      await connection.send("GetItem", INPUT);
    });

    expect(
      world.seen.map(({ host, region: at, accessKeyId, isVerified }) => [host, at, accessKeyId, isVerified]),
    ).toEqual([
      ["dynamodb.eu-central-1.amazonaws.com", "eu-central-1", "A", true],
      ["dynamodb-fips.eu-west-1.amazonaws.com", "eu-west-1", "B", true],
    ]);
  });

  it("D7: throws the SDK's errors, with their response", async () => {
    const body = JSON.stringify({ __type: "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException" });
    await world.during({ ...ROW, answers: [{ status: 400, body }] }, async () => {
      const error = await sdkConnection({})
        .send("GetItem", INPUT)
        .catch((thrown: unknown) => thrown);

      expect(error).toBeInstanceOf(sdk.DynamoDBServiceException);
      expect(error).toMatchObject({
        name: "ResourceNotFoundException",
        $fault: "client",
        $metadata: { httpStatusCode: 400, attempts: 1 },
        $response: { statusCode: 400 },
      });
      expect(Object.keys(error as object)).not.toContain("$response");
    });
  });

  it("goes through `send` in the simulator, which patches it", async () => {
    await patchSdkClients();
    try {
      await world.during(ROW, () => sdkConnection({}).send("GetItem", INPUT));
      expect(world.seen.map(({ isThroughSdk }) => isThroughSdk)).toEqual([true]);
    } finally {
      restoreAll();
    }
  });

  it("goes through `send` in a bundle, whose code differs, and logs why", async () => {
    const folder = await mkdtemp(join(tmpdir(), "own-client-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const signed: string[] = [];
    const server = createServer((request, response) => {
      signed.push(`${request.headers.authorization}`);
      request.resume().once("end", () => response.end("{}"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const outfile = join(folder, "bundle.mjs");
    const source = join(import.meta.dirname, "../../lib/dynamodb/sdk-connection.ts");
    await build({
      stdin: {
        contents: `import { sdkConnection } from ${JSON.stringify(source)};
await sdkConnection({}).send("GetItem", ${JSON.stringify(INPUT)});`,
        resolveDir: import.meta.dirname,
      },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile,
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    });

    const { port } = server.address() as AddressInfo;
    const { stderr } = await promisify(execFile)(process.execPath, [outfile], {
      env: {
        ...ROW.env,
        AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
        NODE_DEBUG: "onceonly",
        HOME: folder,
      },
    });

    expect(signed).toEqual([expect.stringContaining("x-amz-user-agent")]);
    expect(stderr).toMatch(/go through client\.send: no compared version of the SDK has the code \w{64}/);
  });
});
