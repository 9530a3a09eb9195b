/** All events of a simulation, in order, and as text. */
import type { TraceEvent } from "./trace-event.ts";

export class Trace {
  readonly events: TraceEvent[] = [];
  readonly #elapsed: () => number;

  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  note(event: Omit<TraceEvent, "at">): void {
    this.events.push({ at: this.#elapsed(), ...event });
  }

  text(): string {
    return this.events.map((event) => `${lineOf(event)}\n`).join("");
  }
}

function lineOf({ at, hostId, invocation, io, fault, text }: TraceEvent): string {
  const time = `${(at / 1000).toFixed(3)}s`.padStart(12);
  const where = invocation === undefined ? hostId : `${hostId} invocation ${invocation}`;
  if (io === undefined) return `${time} ${where}: ${text}`;
  const attempt = (io.attempt ?? 1) > 1 ? ` (attempt ${io.attempt})` : "";
  const what = `I/O ${io.number} ${io.service} ${io.operation} ${io.target}${attempt}`;
  return `${time} ${where}: ${what}${fault ? ` [${faultText(fault)}]` : ""} → ${text}`;
}

function faultText({ kind, ...details }: NonNullable<TraceEvent["fault"]>): string {
  return [kind, ...Object.entries(details).map(([name, value]) => `${name} ${value}`)].join(" ");
}
