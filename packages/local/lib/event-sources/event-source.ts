// Shared by all event sources. An event source reads batches and passes them to one function. It can be
// switched off and on, as an event source mapping can.
import type { Clock } from "onceonly/kit";
import type { InvokeResult } from "../lambda/invoke-result.ts";

/** An event source mapping that runs. */
export interface LocalEventSource extends SourceSwitch {
  readonly logicalId: string;
  /** The queue or stream. */
  readonly sourceArn: string;
  readonly functionName: string;
}

export interface SourceSwitch {
  readonly enabled: boolean;
  /** Reads no more batches; a batch that the function already has is still settled. */
  disable(): void;
  /** Continues after it was disabled. */
  enable(): void;
}

const AFTER_ERROR_MS = 1000;

export interface EventSourceContext {
  readonly clock: Clock;
  /** Gets one line for each batch. */
  readonly log: (line: string) => void;
  /** The source and the target, for log lines. */
  readonly label: string;
  readonly region: string;
  /** Rejects after the function was stopped. */
  readonly invoke: (payload: string) => Promise<InvokeResult>;
}

/**
 * Switches a task on and off; the task runs until its signal aborts. A source that is switched on again starts
 * when the previous run has ended: two at a time would break a stream's order.
 */
export function switchable(run: (signal: AbortSignal) => Promise<void>, enabled: boolean): SourceSwitch {
  let running: AbortController | undefined;
  let ended: Promise<void> = Promise.resolve();
  const state: SourceSwitch = {
    get enabled() {
      return running !== undefined;
    },
    enable() {
      if (running) return;
      running = new AbortController();
      const { signal } = running;
      ended = ended.then(() => run(signal));
    },
    disable() {
      running?.abort();
      running = undefined;
    },
  };
  if (enabled) state.enable();
  return state;
}

/** A request that an engine rejects, or that a broken connection ends, is retried. */
export async function untilDone(
  { clock, label, log }: Pick<EventSourceContext, "clock" | "label" | "log">,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return;
      log(`${label}: ${String(error)}; retrying in ${AFTER_ERROR_MS / 1000} s`);
      await clock.sleep(AFTER_ERROR_MS, signal);
    }
  }
}
