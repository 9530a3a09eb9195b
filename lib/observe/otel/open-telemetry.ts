/** Decisions as spans and metrics of OpenTelemetry. */
import { type Meter, metrics, type Tracer, trace } from "@opentelemetry/api";
import { type Clock, type Random, systemClock, systemRandom } from "../../core/clock.ts";
import type { DecisionEvent } from "../../core/decisions.ts";
import { type Check, checkOptions, methods } from "../../core/option-checks.ts";
import { ENGINE_CHECKS, withDefaults } from "../../core/options.ts";
import type { Store } from "../../core/store.ts";
import { KEYS_CHECK, SCOPE_CHECK, type ShownKeys, type ShownScope, shownScope } from "../decision-log.ts";
import type { SendingEvent, SettlingEvent } from "../measurements.ts";
import { instrumentsOf } from "./instruments.ts";
import { LinkedStore, Originals } from "./linked-store.ts";
import { activeTraceparent, writeSendSpan, writeSpan } from "./spans.ts";
import { tokenWithTrace } from "./trace-token.ts";

export interface OpenTelemetryOptions {
  /** @default - of the registered provider, by the name `onceonly` */
  readonly tracer?: Tracer;
  /** @default - of the registered provider, by the name `onceonly` */
  readonly meter?: Meter;
  /**
   * What spans say of the owner of a key: its SHA-256, the owner itself, or nothing.
   * @default "hashed"
   */
  readonly scope?: ShownScope;
  /**
   * Whether spans have the key itself beside its hash. Metrics never have it: each key would be a time series of its own.
   * @default "hashed"
   */
  readonly keys?: ShownKeys;
  /** @default - the system's clock */
  readonly clock?: Pick<Clock, "now">;
  /** Makes what claim tokens begin with. @default - the system's randomness */
  readonly random?: Random;
}

export interface OpenTelemetry {
  /** For `observe` of handlers, and of `outboxRelay`, `outboxSweeper` and `reconciler`. */
  readonly observe: (event: DecisionEvent | SendingEvent | SettlingEvent) => void;
  /**
   * Options for a handler, to be spread into its own. By `traceparent` committed messages carry the active span on. By `random`
   * the record of an execution names its trace, which takes 56 bytes in each record.
   */
  readonly options: {
    readonly observe: (event: DecisionEvent) => void;
    readonly traceparent: () => string | undefined;
    readonly random: Random;
  };
  /** The same store. A replay out of it gets a span with a link to the original execution, if that used `options`. */
  linked<Write>(store: Store<Write>): Store<Write>;
}

const CHECKS: Readonly<Record<keyof OpenTelemetryOptions, Check>> = {
  tracer: methods("startSpan"),
  meter: methods("createCounter", "createHistogram", "createGauge"),
  scope: SCOPE_CHECK,
  keys: KEYS_CHECK,
  clock: methods("now"),
  random: ENGINE_CHECKS.random,
};

/**
 * Tells OpenTelemetry what was decided. Each decision becomes a span, named by operation and decision, under the active span. Without
 * one the span is under the trace context of the caller. Spans have the operation, the decision, the hash of the key, the
 * attempt and the name of the error. Metrics have the operation and the decision. Neither has a payload or result, and a key only
 * spans with `keys: "clear"`.
 *
 * Relay and sweeper get a span for each try to send a message, in the trace that the message carries: of whoever committed it.
 * The span links to the active span of the invocation (`invocation`).
 *
 * A span of a replay links to the active span of the original execution (`onceonly.link` = `original`), if the store is `linked`. A span of a
 * consumer links to the sender's (`caller`). What the SDK does not register is dropped.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) at once.
 */
export function openTelemetry(options: OpenTelemetryOptions = {}): OpenTelemetry {
  checkOptions(options, CHECKS, []);
  const { tracer, meter, scope, keys, clock, random } = withDefaults(options, {
    tracer: trace.getTracer("onceonly"),
    meter: metrics.getMeter("onceonly"),
    scope: "hashed" as const,
    keys: "hashed" as const,
    clock: systemClock,
    random: systemRandom,
  });
  const measure = instrumentsOf(meter);
  const originals = new Originals();
  const scopeOf = shownScope(scope, "onceonly.scope", "onceonly.scope_hash");
  const showsKeys = keys === "clear";
  const writer = { tracer, originals, nowMs: () => clock.now(), scopeOf, showsKeys };
  const observe: OpenTelemetry["observe"] = (event) => {
    measure(event);
    if ("decision" in event) writeSpan(writer, event);
    else if (event.event === "send") writeSendSpan(writer, event);
  };
  return {
    observe,
    options: {
      observe,
      traceparent: activeTraceparent,
      random: {
        fraction: () => random.fraction(),
        token: () => tokenWithTrace(random.token(), activeTraceparent()),
      },
    },
    linked: (store) => {
      checkOptions({ store }, { store: ENGINE_CHECKS.store }, ["store"]);
      return new LinkedStore(store, originals);
    },
  };
}
