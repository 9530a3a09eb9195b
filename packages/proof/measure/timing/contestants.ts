// Who runs for time. In each group the last is the peer on its default client, and all others are compared with it.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { Store } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { DynamoDBStore as LeanStore } from "onceonly/lean";
import { formerClaimClient } from "../contestants/former-claim.ts";
import { type Invoke, type LambdaHandler, postOrder } from "../contestants/lambda-call.ts";
import type { CallOnce } from "../contestants/least.ts";
import { committingOrder, onceonlyHttp } from "../contestants/onceonly.ts";
import { onceonlyPlain, powertoolsPlain } from "../contestants/plain.ts";
import { powertoolsHttp } from "../contestants/powertools.ts";
import { floor } from "../contestants/sdk-floor.ts";
import { limit } from "../contestants/signed-limit.ts";
import { lambdaContext, puttingOrder } from "../contestants/world.ts";
import type { Kind } from "./turn.ts";

export interface Tables {
  readonly records: string;
  readonly orders: string;
}

/** Prepares an invocation: its event and context are the work of Lambda's runtime, and aren't measured. */
type Deploy = (tables: Tables) => (handler: LambdaHandler) => Prepare;

export type Prepare = (key: string) => () => Promise<unknown>;

export interface Contestant {
  readonly deploy: Deploy;
  /** The partition key of the contestant's table. */
  readonly partitionKey: "pk" | "id";
  /** The requests that it sends for each call; checked if they are listed. */
  readonly requests?: Readonly<Record<Kind, Readonly<Record<string, number>>>>;
  /** @default - a handler that only answers */
  readonly handler?: (tables: Tables) => LambdaHandler;
}

type Group = Readonly<Record<string, Contestant>>;

/** The peer's own default: a client without an option. */
const defaultClient = () => new DynamoDBClient({});

const requests = { firstRun: { PutItem: 1, UpdateItem: 1 }, replay: { PutItem: 1 } };
const formerRequests = { firstRun: { UpdateItem: 2 }, replay: { UpdateItem: 1 } };

type Adapter = (tables: Tables) => (handler: LambdaHandler) => Invoke;

const called =
  (deploy: Adapter, eventOf: (key: string) => unknown): Deploy =>
  (tables) =>
  (handler) => {
    const invoke = deploy(tables)(handler);
    return (key) => {
      const [event, context] = [eventOf(key), lambdaContext()];
      return () => invoke(event, context);
    };
  };

const plain = (deploy: Adapter): Contestant => ({
  deploy: called(deploy, (orderId) => ({ orderId, item: "book" })),
  partitionKey: "pk",
  requests,
});

const http = (deploy: Adapter): Contestant => ({
  deploy: called(deploy, postOrder),
  partitionKey: "pk",
  requests,
});

const least = (make: (tableName: string) => CallOnce): Contestant => ({
  deploy:
    ({ records }) =>
    (handler) => {
      const callOnce = make(records);
      return (key) => () => callOnce(key, () => handler({} as never, {} as never));
    },
  partitionKey: "pk",
  requests,
});

/** How a store reaches DynamoDB, by its description. */
const STORES = {
  "its own client": (tableName: string) => new DynamoDBStore({ tableName }),
  "the peer's client": (tableName: string) => new DynamoDBStore({ tableName, client: defaultClient() }),
  "the peer's client, through its `send`": (tableName: string) =>
    new DynamoDBStore({ tableName, client: defaultClient() }),
  "the lean client": (tableName: string) => new LeanStore({ tableName }),
} as const;

/** As a client is without the SDK's default: every request makes a connection. */
const lonelyStore = (tableName: string) => {
  const agent = { keepAlive: false };
  const client = new DynamoDBClient({ requestHandler: { httpAgent: agent, httpsAgent: agent } });
  return new DynamoDBStore({ tableName, client });
};

const formerStore = (tableName: string) =>
  new DynamoDBStore({ tableName, client: formerClaimClient(defaultClient()) });

const eachStore = (
  adapter: (store: Store<DynamoDBWrite>) => ReturnType<Adapter>,
  make: (deploy: Adapter) => Contestant,
): Group =>
  Object.fromEntries(
    Object.entries(STORES).map(([name, store]) => [
      `onceonly on ${name}`,
      make(({ records }) => adapter(store(records))),
    ]),
  );

const PLAIN: Group = {
  ...eachStore(onceonlyPlain, plain),
  "onceonly on the peer's client, through its `send`, with the claim it once made": {
    ...plain(({ records }) => onceonlyPlain(formerStore(records))),
    requests: formerRequests,
  },
  "onceonly on a client without keep-alive": plain(({ records }) => onceonlyPlain(lonelyStore(records))),
  "floor: the smallest commands of the SDK": least(floor),
  "limit: signed requests": least(limit),
  Powertools: { ...plain(({ records }) => powertoolsPlain(records)), partitionKey: "id" },
};

const HTTP: Group = {
  ...eachStore((store) => onceonlyHttp({ store }), http),
  Powertools: { ...http(({ records }) => powertoolsHttp({ powertoolsTable: records })), partitionKey: "id" },
};

const putting = ({ orders }: Tables) => puttingOrder({ client: defaultClient(), ordersTable: orders });
const committing = ({ orders }: Tables) => committingOrder({ ordersTable: orders });

const onEngine = (
  handler: Contestant["handler"],
  options: Parameters<typeof onceonlyHttp>[1] = {},
  store: (tableName: string) => Store<DynamoDBWrite> = STORES["the peer's client"],
): Contestant => ({
  deploy: called(({ records }) => onceonlyHttp({ store: store(records) }, options), postOrder),
  partitionKey: "pk",
  handler,
});

/** What an order's commit costs the client, compared with a handler that puts the order separately. */
const committed = { firstRun: { PutItem: 1, TransactWriteItems: 1 }, replay: { PutItem: 1 } };
const put = { firstRun: { PutItem: 2, UpdateItem: 1 }, replay: { PutItem: 1 } };

/** A canned answer repeats the first one. */
const sameOrder = () => ({ id: "order-1", item: "book" });
const puttingSame = ({ orders }: Tables) =>
  puttingOrder({ client: defaultClient(), ordersTable: orders }, sameOrder);
const committingSame = ({ orders }: Tables) => committingOrder({ ordersTable: orders }, false, sameOrder);

const COMMITS: Group = {
  ...Object.fromEntries(
    Object.entries(STORES).map(([name, store]) => [
      `onceonly on ${name}`,
      { ...onEngine(committingSame, {}, store), requests: committed },
    ]),
  ),
  Powertools: { ...powertoolsPutting(), handler: puttingSame, requests: put },
};

const ENGINE: Group = {
  "bare handler": {
    ...onEngine(putting),
    deploy: () => (handler) => () => () => handler({} as never, {} as never),
  },
  "onceonly, claimed": onEngine(putting),
  "onceonly, claimed, with a commit": onEngine(committing),
  "onceonly, claimed, on the lean client": onEngine(putting, {}, STORES["the lean client"]),
  "onceonly, claimed, with a commit, on the lean client": onEngine(committing, {}, STORES["the lean client"]),
  "onceonly, optimistic": onEngine(committing, { mode: "optimistic" }),
  "onceonly, optimistic, `lookFirst: false`": onEngine(committing, { mode: "optimistic", lookFirst: false }),
  "onceonly, claimed, through the client's `send`": onEngine(
    putting,
    {},
    STORES["the peer's client, through its `send`"],
  ),
  "onceonly, claimed, through its `send`, with the claim it once made": onEngine(putting, {}, formerStore),
  Powertools: powertoolsPutting(),
};

function powertoolsPutting(): Contestant {
  return {
    ...onEngine(putting),
    deploy: called(({ records }) => powertoolsHttp({ powertoolsTable: records }), postOrder),
    partitionKey: "id",
  };
}

export const GROUPS = { plain: PLAIN, http: HTTP, commits: COMMITS, engine: ENGINE };
export type GroupName = keyof typeof GROUPS;
