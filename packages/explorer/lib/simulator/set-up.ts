/**
 * Creates a simulation's tables, queues, topics and buses immediately, and keeps their errors for the next
 * `run`.
 */

import { InvalidOptionError } from "onceonly/kit";
import type { DynamoDBModel } from "../aws/dynamodb/dynamodb-model.ts";
import type { SqsModel } from "../aws/sqs/sqs-model.ts";
import { isFifo, queueAttributes } from "./queue-attributes.ts";
import type { SimulatedBus, SimulatedTopic } from "./room-options.ts";
import { type NewRoom, newBus, newTopic } from "./set-up-rooms.ts";
import type { SimulatedQueue, SimulatedTable } from "./simulator-options.ts";
import { createTableInput } from "./table-input.ts";
import type { World } from "./world.ts";

export class SetUp {
  readonly #dynamodb: DynamoDBModel;
  readonly #sqs: SqsModel;
  readonly #world: World;
  readonly #names = new Set<string>();
  #calls: Promise<unknown>[] = [];

  constructor(world: World) {
    this.#dynamodb = world.dynamodb;
    this.#sqs = world.sqs;
    this.#world = world;
  }

  /** @throws Error for a name that exists already */
  table(name: string, table: SimulatedTable): void {
    this.#claimName("table", name);
    this.#note(this.#dynamodb.call("CreateTable", createTableInput(name, table)));
    if (table.ttl === undefined) return;
    const TimeToLiveSpecification = { AttributeName: table.ttl, Enabled: true };
    this.#note(this.#dynamodb.call("UpdateTimeToLive", { TableName: name, TimeToLiveSpecification }));
  }

  /**
   * Returns its URL.
   * @throws Error for a name that exists already; InvalidOptionError (`INVALID_OPTION`) for a FIFO queue
   * without order
   */
  queue(name: string, queue: SimulatedQueue): string {
    checkOrder(name, queue);
    this.#claimName("queue", name);
    this.#world.natures.set(name, queue);
    const deadLetter = queue.deadLetter?.queue.split("/").at(-1);
    if (deadLetter !== undefined) {
      const Attributes = queueAttributes(deadLetter, {}, undefined);
      // An existing queue with other attributes is used as it is.
      this.#sqs.call("CreateQueue", { QueueName: deadLetter, Attributes }).catch(() => undefined);
    }
    const deadLetterArn = deadLetter && `arn:aws:sqs:us-east-1:000000000000:${deadLetter}`;
    const Attributes = queueAttributes(name, queue, deadLetterArn);
    this.#note(this.#sqs.call("CreateQueue", { QueueName: name, Attributes }));
    return `https://sqs.us-east-1.amazonaws.com/000000000000/${name}`;
  }

  /**
   * Returns its ARN.
   * @throws Error for a name that exists already
   */
  topic(name: string, topic: SimulatedTopic): string {
    this.#claimName("topic", name);
    return this.#noteAll(newTopic(this.#world, name, topic));
  }

  /**
   * Returns its ARN.
   * @throws Error for a name that exists already
   */
  bus(name: string, bus: SimulatedBus): string {
    this.#claimName("bus", name);
    return this.#noteAll(newBus(this.#world, name, bus));
  }

  /** @throws AWS's error for the first refused call */
  async check(): Promise<void> {
    await Promise.all(this.#calls.splice(0));
  }

  #claimName(kind: "table" | "queue" | "topic" | "bus", name: string): void {
    const room = `${kind} ${name}`;
    if (this.#names.has(room)) throw new Error(`a ${room} already exists: choose another name`);
    this.#names.add(room);
  }

  #noteAll({ arn, calls }: NewRoom): string {
    for (const call of calls) this.#note(call);
    return arn;
  }

  #note(call: Promise<unknown>): void {
    call.catch(() => undefined);
    this.#calls.push(call);
  }
}

function checkOrder(name: string, queue: SimulatedQueue): void {
  if (!isFifo(name, queue)) return;
  for (const option of ["repeats", "shuffles"] as const) {
    if (!queue[option]) continue;
    throw new InvalidOptionError(
      option,
      "only applies to standard queues: a FIFO queue keeps its order",
      queue[option],
    );
  }
}
