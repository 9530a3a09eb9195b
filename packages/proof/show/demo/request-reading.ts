// What a DynamoDB request reveals about the records of the sample's operations, and about new orders. Pure.
import { ATTRIBUTES } from "../../../../lib/contract.ts";
import type { ObservedRequest } from "../../../local/lib/fault-proxy.ts";

/** "mark" is the request with which relay and sweeper record that a commit's messages are sent. */
export type Moment = "claim" | "commit" | "mark";

export interface RecordMoment {
  readonly recordKey: string;
  readonly moment: Moment;
}

/** @returns none for a request that nothing is done to */
export type ReadRequest = (request: ObservedRequest) => readonly RecordMoment[];

export interface NewOrder {
  readonly tenant: string;
  readonly key: string;
  readonly id: string;
}

export interface WriteBody {
  readonly Key?: { readonly [name: string]: { readonly S?: string } };
  readonly Item?: { readonly [name: string]: { readonly S?: string } };
  readonly UpdateExpression?: string;
  readonly TransactItems?: readonly { readonly [action: string]: WriteBody }[];
  readonly Statements?: readonly {
    readonly Statement: string;
    readonly Parameters: readonly { readonly S?: string }[];
  }[];
}

const WRITES = ["UpdateItem", "PutItem", "TransactWriteItems", "BatchExecuteStatement"];

/** Reads the requests of functions with onceonly. */
export const readRecords: ReadRequest = ({ operation, body }) => {
  if (!WRITES.includes(operation)) return [];
  const claimed = claimedTogether(body);
  if (claimed.length > 0) return claimed.map((recordKey) => ({ recordKey, moment: "claim" }));
  const moment = momentOf(operation, body);
  return recordKeysOf(body).map((recordKey) => ({ recordKey, moment }));
};

export function ordersIn(body: WriteBody): NewOrder[] {
  return writesOf(body).flatMap(({ Item }) => {
    const [tenant, key, id] = [Item?.tenant?.S, Item?.idempotencyKey?.S, Item?.id?.S];
    return tenant !== undefined && key !== undefined && id !== undefined ? [{ tenant, key, id }] : [];
  });
}

export function writesOf({ TransactItems = [] }: WriteBody): WriteBody[] {
  return TransactItems.flatMap((item) => Object.values(item));
}

/** The records that one request inserts, each with a separate statement. */
function claimedTogether({ Statements = [] }: WriteBody): string[] {
  return Statements.filter(({ Statement }) => Statement.startsWith("INSERT")).flatMap(
    ({ Statement, Parameters }) => {
      const names = Array.from(Statement.matchAll(/'(\w+)': \?/g), ([, name]) => name);
      return Parameters[names.indexOf(ATTRIBUTES.partitionKey)]?.S ?? [];
    },
  );
}

function momentOf(operation: string, { UpdateExpression = "" }: WriteBody): Moment {
  if (operation === "TransactWriteItems") return "commit";
  const isMark = new RegExp(`REMOVE .*\\b${ATTRIBUTES.unsentSince}\\b`).test(UpdateExpression);
  return isMark ? "mark" : "claim";
}

/** Orders have another partition key, so an item with a `pk` is a record. Commits may join. */
function recordKeysOf(body: WriteBody): string[] {
  return [body, ...writesOf(body)].flatMap(({ Key, Item }) => Key?.pk?.S ?? Item?.pk?.S ?? []);
}
