// Counts what a DynamoDB client asks for: requests on the wire, and the capacity that the answers report.
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

export interface Counts {
  /** On the wire: a repetition by the SDK counts again. */
  requests: number;
  writeUnits: number;
  readUnits: number;
  /** The names of the commands, in order. */
  commands: string[];
}

/** What any DynamoDB command's answer, or error, may hold. */
interface Answer {
  readonly ConsumedCapacity?: Capacity | readonly Capacity[];
}

interface Capacity {
  readonly CapacityUnits?: number;
}

const WRITES = /^(Put|Update|Delete|TransactWrite|BatchExecute)/;

/**
 * Counts everything `client` sends from now on; `reset` starts anew.
 *
 * Engines report the capacity of accepted requests only. DynamoDB Local counts a transaction as 2 units for each table,
 * however many items of it are written. AWS charges a refused single write as well, by the size of
 * the item that refused it. So does this: 1 unit for each KB begun of the item that the refusal carries.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
 */
export function countRequests(client: DynamoDBClient): Counts & { reset(): void } {
  const zero = (): Counts => ({ requests: 0, writeUnits: 0, readUnits: 0, commands: [] });
  const counts = { ...zero(), reset: () => Object.assign(counts, zero()) };

  client.middlewareStack.add(
    (next, context) => async (args) => {
      const command = String(context.commandName).replace(/Command$/, "");
      counts.commands.push(command);
      const units = WRITES.test(command) ? "writeUnits" : "readUnits";
      const input = { ...args.input, ReturnConsumedCapacity: "TOTAL" } as typeof args.input;
      try {
        const answer = await next({ ...args, input });
        for (const { CapacityUnits } of [(answer.output as Answer).ConsumedCapacity ?? []].flat())
          counts[units] += CapacityUnits ?? 0;
        return answer;
      } catch (error) {
        const { name, Item } = error as { name: string; Item?: Record<string, Attribute> };
        if (name === "ConditionalCheckFailedException")
          counts[units] += Math.max(1, Math.ceil(itemSize(Item ?? {}) / 1024));
        throw error;
      }
    },
    { step: "initialize", name: "countCapacity" },
  );
  client.middlewareStack.add(
    (next) => (args) => {
      counts.requests++;
      return next(args);
    },
    // After the SDK's own retries: once for every request on the wire.
    { step: "finalizeRequest", priority: "low", name: "countRequests" },
  );
  return counts;
}

interface Attribute {
  readonly S?: string;
  readonly N?: string;
  readonly B?: Uint8Array;
  readonly M?: Record<string, Attribute>;
}

/** As DynamoDB counts it: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
export function itemSize(item: Record<string, Attribute>): number {
  return Object.entries(item).reduce(
    (bytes, [name, value]) => bytes + Buffer.byteLength(name) + valueSize(value),
    0,
  );
}

function valueSize({ S, N, B, M }: Attribute): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (B !== undefined) return B.byteLength;
  if (M !== undefined) return 3 + Object.keys(M).length + itemSize(M);
  if (N === undefined) return 1;
  const digits = N.replace(/[-.]/g, "").replace(/^0+|0+$/g, "").length;
  return 1 + Math.ceil(digits / 2) + Number(N.startsWith("-"));
}
