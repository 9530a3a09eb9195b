// Sees every invocation of a function, and can kill the process of a certain one.
import { randomUUID } from "node:crypto";
import type { FunctionHost } from "../../../local/lib/index.ts";

export interface Invocation<Event> {
  readonly requestId: string;
  readonly event: Event;
}

/** The function's response; `undefined` if it threw, timed out or was killed. */
export type Answered = { readonly answer: unknown } | undefined;

export interface Witness<Event> {
  readonly running: ReadonlySet<Invocation<Event>>;
  /** Invocations so far. */
  readonly started: number;
  /** SIGKILLs a process that works on such an event now. @returns whether there was one */
  kill(isMeant: (event: Event) => boolean): boolean;
}

export interface WitnessOptions<Event> {
  readonly onStart?: (invocation: Invocation<Event>) => void;
  readonly onEnd?: (invocation: Invocation<Event>, answered: Answered) => void;
}

/** From now on every invocation of the function goes through the witness. */
export function witness<Event>(host: FunctionHost, options: WitnessOptions<Event> = {}): Witness<Event> {
  const running = new Set<Invocation<Event>>();
  let started = 0;
  const invoke = host.invoke.bind(host);
  host.invoke = async (payload, extras) => {
    const requestId = extras?.requestId ?? randomUUID();
    const invocation = { requestId, event: JSON.parse(payload) as Event };
    running.add(invocation);
    started++;
    options.onStart?.(invocation);
    let answered: Answered;
    try {
      const result = await invoke(payload, { ...extras, requestId });
      if (result.outcome === "ok") answered = { answer: JSON.parse(result.payload || "null") };
      return result;
    } finally {
      running.delete(invocation);
      options.onEnd?.(invocation, answered);
    }
  };
  return {
    running,
    get started() {
      return started;
    },
    kill: (isMeant) =>
      [...running].some(({ requestId, event }) => isMeant(event) && host.kill(requestId) !== undefined),
  };
}
