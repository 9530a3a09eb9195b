// Who runs in the comparison: each face of both packages, set up as its documentation says.
import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { Context } from "aws-lambda";
import type { Invoke, LambdaHandler } from "../../bench/contestants/lambda-call.ts";
import {
  type OnceonlyContext,
  type OnceonlySetup,
  onceonlyHttp,
  onceonlyMiddleware,
  onceonlyWrapper,
} from "../../bench/contestants/onceonly.ts";
import {
  type PowertoolsSetup,
  powertoolsMiddleware,
  powertoolsWrapper,
} from "../../bench/contestants/powertools.ts";
import { POWERTOOLS_PARTITION_KEY } from "../../bench/contestants/world.ts";
import type { Lab, Order } from "./lab.ts";

export interface Contestant {
  readonly name: string;
  readonly partitionKey: string;
  /** A function whose events carry their key as `id`. */
  deploy(lab: Lab, handler: LambdaHandler): Invoke;
  /** A function whose events are told apart by all that they hold. */
  deployForWholeEvents(lab: Lab, handler: LambdaHandler): Invoke;
  /** A function behind an HTTP API whose bodies are told apart. */
  deployHttp(lab: Lab, handler: LambdaHandler): Invoke;
  /** Stores an order, as safely as the package offers it. */
  storeOrder(lab: Lab, context: Context, order: Order): Promise<unknown>;
}

function onceonly(face: "wrapper" | "middleware", deployFace: (setup: OnceonlySetup) => Invoke): Contestant {
  const deploy: Contestant["deploy"] = ({ client, recordsTable: tableName, clock }, handler) =>
    deployFace({ client, tableName, handler, clock });
  return {
    name: `onceonly, ${face}`,
    partitionKey: "pk",
    deploy,
    deployForWholeEvents: deploy,
    deployHttp: ({ client, recordsTable: tableName, clock }, handler) =>
      onceonlyHttp({ client, tableName }, { clock }, face)(handler),
    storeOrder: ({ ordersTable: TableName }, context, { order }) =>
      (context as OnceonlyContext).idempotency.commit(
        { order },
        { writes: [{ Put: { TableName, Item: { id: String(order) } } }] },
      ),
  };
}

function powertools(face: string, deployFace: (setup: PowertoolsSetup) => Invoke): Contestant {
  const deployWith =
    (names: { readonly key?: string; readonly payload?: string }): Contestant["deploy"] =>
    ({ client, recordsTable: tableName }, handler) =>
      deployFace({ client, tableName, handler, ...names });
  return {
    name: `Powertools, ${face}`,
    partitionKey: POWERTOOLS_PARTITION_KEY,
    deploy: deployWith({ key: "id", payload: "item" }),
    deployForWholeEvents: deployWith({}),
    // The documented way for JSON bodies. With the raw `body` as its key, the peer would tell them apart too.
    deployHttp: deployWith({ key: "powertools_json(body)" }),
    storeOrder: ({ client, ordersTable: TableName }, _context, { order }) =>
      client.send(new PutItemCommand({ TableName, Item: { id: { S: String(order) } } })),
  };
}

export const ONCEONLY = [
  onceonly("wrapper", onceonlyWrapper),
  onceonly("middleware", onceonlyMiddleware),
] as const;

export const POWERTOOLS = [
  powertools("wrapper", powertoolsWrapper),
  powertools("middleware", powertoolsMiddleware),
] as const;
