// Who looks on at a client, and what is put in its place, sees every request of the store that it saw before.
import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { afterEach, describe, expect, it } from "vitest";
import { DynamoDBStore } from "../../lib/dynamodb/dynamodb-store.ts";
import { restoreAll } from "../../lib/simulator/patches/replace.ts";
import { patchSdkClients } from "../../lib/simulator/patches/sdk-clients.ts";
import { CREDENTIALS, isThroughSdk, recordRequests } from "./requests-world.ts";

type Client = DynamoDBClient | DynamoDBDocumentClient;

const look = (store: DynamoDBStore) => store.find("key", { consistent: true });

const passing = (next: (args: never) => Promise<unknown>) => (args: never) => next(args);

function given(config: DynamoDBClientConfig = {}) {
  const { client, requests } = recordRequests(config);
  return { client, requests, store: new DynamoDBStore({ tableName: "records", client }) };
}

/** Whether the next request of the store goes through the SDK's middleware. */
async function goesThrough({ store, requests }: Pick<ReturnType<typeof given>, "store" | "requests">) {
  await look(store);
  return isThroughSdk(requests.at(-1)!);
}

const ROOT = Object.getPrototypeOf(DynamoDBClient.prototype) as Client;

describe("DynamoDBStore, with a client that is not the SDK's alone", () => {
  const { send: original } = ROOT;

  afterEach(() => {
    ROOT.send = original;
    Reflect.deleteProperty(DynamoDBClient.prototype, "send");
  });

  it.each<[string, (client: DynamoDBClient) => () => void]>([
    [
      "middleware without a name",
      ({ middlewareStack }) => {
        middlewareStack.add(passing as never, { step: "build" });
        return () => middlewareStack.remove(passing as never);
      },
    ],
    [
      "middleware beside the SDK's",
      ({ middlewareStack }) => {
        const at = { relation: "after", toMiddleware: "retryMiddleware", name: "trace" } as const;
        middlewareStack.addRelativeTo(passing as never, at);
        return () => middlewareStack.remove("trace");
      },
    ],
    [
      "a function in the place of `send`",
      (client) => {
        const { send } = client;
        client.send = function watch(this: Client, ...parameters: never[]) {
          return (send as (...all: never[]) => unknown).apply(this, parameters);
        } as never;
        return () => Reflect.deleteProperty(client, "send");
      },
    ],
    [
      "a proxy of `send`",
      (client) => {
        client.send = new Proxy(client.send, {});
        return () => Reflect.deleteProperty(client, "send");
      },
    ],
    [
      "a function in the place of every DynamoDB client's `send`",
      () => {
        DynamoDBClient.prototype.send = function watch(this: Client, ...parameters: never[]) {
          return (original as (...all: never[]) => unknown).apply(this, parameters);
        } as never;
        return () => Reflect.deleteProperty(DynamoDBClient.prototype, "send");
      },
    ],
    [
      "a function in the place of all clients' `send`",
      () => {
        ROOT.send = function watch(this: Client, ...parameters: never[]) {
          return (original as (...all: never[]) => unknown).apply(this, parameters);
        } as never;
        return () => {
          ROOT.send = original;
        };
      },
    ],
    [
      "a logger",
      ({ config }) => {
        const { logger } = config;
        config.logger = { debug() {}, info() {}, warn() {}, error() {} };
        return () => {
          config.logger = logger;
        };
      },
    ],
  ])("goes through it as long as there is %s", async (_, put) => {
    const subject = given();
    expect(await goesThrough(subject)).toBe(false);

    const takeAway = put(subject.client);
    expect(await goesThrough(subject)).toBe(true);
    expect(await goesThrough(subject)).toBe(true);
    takeAway();

    expect(await goesThrough(subject)).toBe(false);
  });

  it("goes through middleware that was put in the place of the SDK's own", async () => {
    const subject = given();
    subject.client.middlewareStack.add(passing as never, {
      step: "initialize",
      name: "loggerMiddleware",
      override: true,
    });

    expect(await goesThrough(subject)).toBe(true);
  });

  it.each<[string, object]>([
    ["a logger", { logger: { debug() {}, info() {}, warn() {}, error() {} } }],
    ["a signer", { signer: { sign: async (request: unknown) => request } }],
    [
      "another kind of authentication",
      {
        httpAuthSchemeProvider: () => [{ schemeId: "smithy.api#noAuth" }],
        httpAuthSchemes: [
          {
            schemeId: "smithy.api#noAuth",
            identityProvider: () => async () => ({}),
            signer: { sign: async (request: unknown) => request },
          },
        ],
      },
    ],
    [
      "a retry strategy of the first version",
      {
        retryStrategy: {
          mode: "own",
          retry: (next: (args: unknown) => unknown, args: unknown) => next(args),
        },
      },
    ],
  ])("goes through a client that is made with %s", async (_, config) => {
    expect(await goesThrough(given(config as DynamoDBClientConfig))).toBe(true);
  });

  it("goes through `send` of a class that has its own, and past it where it has none", async () => {
    class Watched extends DynamoDBClient {
      override send(...parameters: never[]): never {
        return (super.send as (...all: never[]) => never)(...parameters);
      }
    }
    class Named extends DynamoDBClient {}
    for (const [Made, expected] of [
      [Watched, true],
      [Named, false],
    ] as const) {
      const { client, requests } = recordRequests();
      const { requestHandler } = client.config;
      const made = new Made({ region: "eu-central-1", credentials: CREDENTIALS, requestHandler });
      const store = new DynamoDBStore({ tableName: "records", client: made });

      expect(await goesThrough({ store, requests })).toBe(expected);
    }
  });

  it("goes past a document client as past the client that it is made from", async () => {
    const { client, requests } = recordRequests();
    const document = DynamoDBDocumentClient.from(client);
    const store = new DynamoDBStore({ tableName: "records", client: document });
    expect(await goesThrough({ store, requests })).toBe(false);

    client.middlewareStack.add(passing as never, { step: "build", name: "trace" });

    expect(await goesThrough({ store, requests })).toBe(true);
  });

  it("asks a double that has `send` and nothing else", async () => {
    const seen: unknown[] = [];
    const send = async (command: { constructor: { name: string } }) => {
      seen.push(command.constructor.name);
      return {};
    };
    const client = { config: {}, send } as never;

    await look(new DynamoDBStore({ tableName: "records", client }));

    expect(seen).toEqual(["GetItemCommand"]);
  });

  it("watches a client twice, where there are two copies of the package", async () => {
    const subject = given();
    const add = (): void =>
      subject.client.middlewareStack.add(passing as never, {
        step: "deserialize",
        priority: "high",
        tags: ["ONCEONLY_SERVER_TIME"],
      });
    add();

    expect(await goesThrough(subject)).toBe(false);
  });

  it("goes past the simulator's own, which stands below", async () => {
    await patchSdkClients();
    try {
      expect(ROOT.send).not.toBe(original);
      expect(await goesThrough(given())).toBe(false);
    } finally {
      restoreAll();
    }
  });

  it("always goes through it with `direct: false`", async () => {
    const { client, requests } = recordRequests();
    const store = new DynamoDBStore({ tableName: "records", client, direct: false });

    expect(await goesThrough({ store, requests })).toBe(true);
  });
});
