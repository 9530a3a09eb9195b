/** AWS's limits for the requests of functions: more requests are throttled. */
import type { Disorder } from "../aws/sqs/disorder.ts";
import type { Io } from "./io.ts";

export interface Quotas {
  /** How many messages of a queue may be in flight. @default 120000 */
  readonly inFlight?: number | undefined;
  /**
   * How many messages a FIFO queue scans for a deliverable one: a backlog in one group hides the groups
   * after it.
   * @default 120000
   */
  readonly fifoScanned?: number | undefined;
  /**
   * How many requests of each kind a FIFO queue accepts per second: sends, receives and deletions. With
   * `perGroup` the limit for sends applies to each group. A batch is one request.
   * @default 300
   */
  readonly fifoCallsPerSecond?: number | undefined;
}

/** Properties of a queue beyond its attributes. */
export interface QueueNature extends Disorder {
  readonly perGroup?: boolean | undefined;
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html */
const FIFO_CALLS_PER_SECOND = 300;
const SECOND_MS = 1000;

const KIND = /^(Send|Receive|Delete|ChangeMessageVisibility|Publish)/;

export class CallQuota {
  readonly #limit: number;
  readonly #natureOf: (queueName: string) => QueueNature | undefined;
  readonly #calls = new Map<string, number[]>();

  constructor(limit = FIFO_CALLS_PER_SECOND, natureOf: (queueName: string) => QueueNature | undefined) {
    this.#limit = limit;
    this.#natureOf = natureOf;
  }

  /** Counts this request, and returns whether it exceeds the limit. */
  refuses(io: Io, now: number): boolean {
    return this.#countersOf(io)
      .map((counter) => this.#count(counter, now))
      .includes("over");
  }

  #countersOf({ service, operation, target, input }: Io): string[] {
    const kind = KIND.exec(operation)?.[0];
    if (kind === undefined || !target.endsWith(".fifo")) return [];
    const name = `${service} ${target} ${kind}`;
    if (!this.#natureOf(target)?.perGroup) return [name];
    return kind === "Send" ? groupsIn(input).map((group) => `${name} ${group}`) : [];
  }

  #count(counter: string, now: number): "within" | "over" {
    const recent = (this.#calls.get(counter) ?? []).filter((at) => now - at < SECOND_MS);
    const isOver = recent.length >= this.#limit;
    this.#calls.set(counter, isOver ? recent : [...recent, now]);
    return isOver ? "over" : "within";
  }
}

function groupsIn({ MessageGroupId, Entries }: Io["input"]): string[] {
  const entries = Array.isArray(Entries) ? Entries : [{ MessageGroupId }];
  return [...new Set(entries.map((entry) => String(Object(entry).MessageGroupId)))];
}
