// The client that the store makes itself: our parts do the usual case, the SDK does the rest, and observers see every request.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as sdk from "@aws-sdk/client-dynamodb";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { makeClient } from "../../lib/dynamodb/own-client.ts";
import { sdkConnection } from "../../lib/dynamodb/sdk-connection.ts";
import { restoreAll } from "../../packages/explorer/lib/simulator/patches/replace.ts";
import { patchSdkClients } from "../../packages/explorer/lib/simulator/patches/sdk-clients.ts";
import { KEYS } from "./client-rows.ts";
import { ClientsWorld, loadOver, type Row, SDKS, secretOf } from "./clients-world.ts";

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

interface Protocol {
  serializeRequest(...all: unknown[]): unknown;
  deserializeResponse(...all: unknown[]): unknown;
}

/** The names of the SDK's own parts that take part in a request. */
async function usedParts(row: Row, name: string): Promise<string[]> {
  const { make, sdk: loaded } = await loadOver(name);
  return world.during(row, async () => {
    const client = make();
    const used: string[] = [];
    const { protocol } = client.config as unknown as { protocol: Protocol };
    for (const part of ["serializeRequest", "deserializeResponse"] as const) {
      const original = protocol[part];
      protocol[part] = (...all) => {
        used.push(part);
        return original.apply(protocol, all);
      };
    }
    const { BatchGetItemCommand } = loaded;
    const input = { RequestItems: { records: { Keys: [INPUT.Key] } } };
    await client.send(new BatchGetItemCommand(input)).catch(() => undefined);
    expect(world.seen.map(({ isVerified }) => isVerified)).toEqual([true]);
    return used;
  });
}

// The oldest version has no protocols: the matrix shows that its requests are the same.
describe.each(SDKS.slice(1))("H94: the serializer and the deserializer of %s", (name) => {
  const refusal = {
    __type: "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
    message: "The conditional request failed",
  };
  const answered = (body: string, status = 400): Row => ({ ...ROW, answers: [{ status, body }] });

  it.each<[string, Row]>([
    ["a success", ROW],
    ["a session token", { env: { ...ROW.env, AWS_SESSION_TOKEN: "token" } }],
    ["an endpoint with a path", { env: { ...ROW.env, AWS_ENDPOINT_URL: "https://a.example.com/b" } }],
    ["a condition that isn't met", answered(JSON.stringify(refusal))],
  ])("aren't used for %s", async (_, row) => {
    expect(await usedParts(row, name)).toEqual([]);
  });

  it.each<[string, Row]>([
    ["another error", answered('{"__type":"ValidationException"}')],
    ["a refusal without a message", answered(JSON.stringify({ ...refusal, message: undefined }))],
    ["an error that isn't JSON", answered("<html>")],
    ["a page in place of a success", answered("<html>", 200)],
    ["a list in place of a success", answered("[]", 200)],
  ])("read %s", async (_, row) => {
    expect(await usedParts(row, name)).toEqual(["deserializeResponse"]);
  });
});

describe("H94: the client that the store makes itself", () => {
  it.each(Object.entries(OBSERVERS))("D3: shows every request to %s", async (title, observe) => {
    const seesCommands = title.startsWith("a patch of");
    for (const isEarly of [true, false]) {
      const seen: Seen = [];
      await world.during(ROW, async () => {
        let undo = isEarly ? observe(seen) : undefined;
        const connection = sdkConnection({});
        if (!isEarly) undo = observe(seen);
        await connection.send("GetItem", INPUT);
        await connection.send("GetItem", INPUT);
        undo?.();

        // The middleware of a command is resolved once for each client.
        expect(seen).toEqual(Array(seesCommands ? 1 : 2).fill("request"));
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
    expect(world.seen).toHaveLength(1);
  });

  it.each([
    ["no trace", "for a refusal with its item, which each replay meets", { Item: { pk: { S: "1" } } }, false],
    ["a trace", "for other refusals", {}, true],
  ])("R7: collects %s %s", async (_, __, more, hasTrace) => {
    const __type = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException";
    const body = JSON.stringify({ __type, message: "The conditional request failed", ...more });

    await world.during({ ...ROW, answers: [{ status: 400, body }] }, async () => {
      const error = await sdkConnection({})
        .send("GetItem", INPUT)
        .catch((error: Error) => error);

      expect(error).toBeInstanceOf(sdk.ConditionalCheckFailedException);
      expect(/^\s+at /m.test(`${(error as Error).stack}`)).toBe(hasTrace);
    });
  });

  it("D1: asks every provider for each request", async () => {
    let count = 0;
    const turns = <T>(...values: T[]) => vi.fn(async () => values[Math.min(count, values.length - 1)]!);
    await world.during(ROW, async () => {
      const client = makeClient();
      Object.assign(client.config, {
        region: turns("eu-central-1", "eu-west-1"),
        useFipsEndpoint: turns(false, true),
        credentials: turns(
          ...["A", "B"].map((name) => ({
            accessKeyId: name,
            secretAccessKey: secretOf(name),
            expiration: new Date(0),
          })),
        ),
      });
      await client.send(new sdk.GetItemCommand(INPUT));
      count++;
      await client.send(new sdk.GetItemCommand(INPUT));
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

  it("is seen by the simulator, which patches `send`", async () => {
    await patchSdkClients();
    try {
      await world.during(ROW, () => sdkConnection({}).send("GetItem", INPUT));
      expect(world.seen).toHaveLength(1);
    } finally {
      restoreAll();
    }
  });

  it("uses our parts in a minified bundle too", async () => {
    const folder = await mkdtemp(join(tmpdir(), "own-client-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const requests: IncomingHttpHeaders[] = [];
    const server = createServer((request, response) => {
      requests.push(request.headers);
      request.resume().once("end", () => response.end("{}"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const outfile = join(folder, "bundle.mjs");
    const source = join(import.meta.dirname, "../../lib/dynamodb/own-client.ts");
    await build({
      stdin: {
        contents: `import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { makeClient } from ${JSON.stringify(source)};
const client = makeClient();
for (const part of ["serializeRequest", "deserializeResponse"]) client.config.protocol[part] = () => { throw new Error(part); };
await client.send(new GetItemCommand(${JSON.stringify(INPUT)}));`,
        resolveDir: import.meta.dirname,
      },
      bundle: true,
      minify: true,
      platform: "node",
      format: "esm",
      outfile,
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    });

    const { port } = server.address() as AddressInfo;
    await promisify(execFile)(process.execPath, [outfile], {
      env: { ...ROW.env, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`, HOME: folder },
    });

    expect(requests).toEqual([
      expect.objectContaining({ authorization: expect.stringContaining("x-amz-user-agent") }),
    ]);
  });
});
