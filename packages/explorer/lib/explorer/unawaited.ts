/** Finds work that handlers left running when they ended. */
import type { Io } from "../simulator/io.ts";
import type { TraceEvent } from "../simulator/trace-event.ts";

export interface LateRequest {
  readonly invocation: number;
  /** "dynamodb PutItem orders" */
  readonly label: string;
}

export class Unawaited {
  readonly requests: LateRequest[] = [];
  readonly #trace: () => readonly TraceEvent[];
  readonly #ended = new Set<number>();
  readonly #faulted = new Set<number>();
  #read = 0;

  constructor(trace: () => readonly TraceEvent[]) {
    this.#trace = trace;
  }

  /** A request that is about to be sent. */
  note(io: Io): void {
    this.readOn();
    if (this.#ended.has(io.invocation)) this.#add(io);
  }

  /**
   * Requests that arrive after the end count too. Invocations with a fault are excepted: a request that they
   * gave up after a timeout may still be on its way.
   */
  readOn(): void {
    const trace = this.#trace();
    for (; this.#read < trace.length; this.#read++) {
      const { kind, invocation, io, fault, text } = trace[this.#read] as TraceEvent;
      if (invocation === undefined) continue;
      if (kind === "invocation" && /^(returned|threw)/.test(text)) this.#ended.add(invocation);
      if (fault !== undefined) this.#faulted.add(invocation);
      if (io !== undefined && this.#ended.has(invocation) && !this.#faulted.has(invocation)) this.#add(io);
    }
  }

  #add({ invocation, service, operation, target }: Io): void {
    this.requests.push({ invocation, label: `${service} ${operation} ${target}` });
  }
}
