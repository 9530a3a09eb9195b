/** Reports decisions as OpenTelemetry spans and metrics. */
import { type Meter, metrics, type Tracer, trace } from "@opentelemetry/api";
import { type Clock, type Random, systemClock, systemRandom } from "../../core/clock.ts";
import type { DecisionEvent } from "../../core/decisions.ts";
import { type Check, checkOptions, methods } from "../../core/option-checks.ts";
import { ENGINE_CHECKS } from "../../core/options.ts";
import type { Store } from "../../core/store.ts";
import { withDefaults } from "../../core/with-defaults.ts";
import { KEYS_CHECK, SCOPE_CHECK, type ShownKeys, type ShownScope, shownScope } from "../decision-log.ts";
import type { SendingEvent, SettlingEvent } from "../measurements.ts";
import { instrumentsOf } from "./instruments.ts";
import { LinkedStore, Originals } from "./linked-store.ts";
import { activeTraceparent, writeSendSpan, writeSpan } from "./spans.ts";
import { tokenWithTrace } from "./trace-token.ts";

export interface OpenTelemetryOptions {
  /** @default - from the registered provider, under the name `onceonly` */
  readonly tracer?: Tracer;
  /** @default - from the registered provider, under the name `onceonly` */
  readonly meter?: Meter;
  /**
   * How spans show the owner of a key: its SHA-256, the owner itself, or not at all.
   * @default "hashed"
   */
  readonly scope?: ShownScope;
  /**
   * Whether spans contain the key itself in addition to its hash. Metrics never do: each key would be a separate time series.
   * @default "hashed"
   */
  readonly keys?: ShownKeys;
  /** @default - the system's clock */
  readonly clock?: Pick<Clock, "now">;
  /** Generates the beginning of claim tokens. @default - the system's randomness */
  readonly random?: Random;
}

export interface OpenTelemetry {
  /** For `observe` of handlers, and of `outboxRelay`, `outboxSweeper` and `reconciler`. */
  readonly observe: (event: DecisionEvent | SendingEvent | SettlingEvent) => void;
  /**
   * Options to spread into a handler's own. `traceparent` makes committed messages continue the active span. `random` makes the
   * record of an execution name its trace, which adds 56 bytes to each record.
   */
  readonly options: {
    readonly observe: (event: DecisionEvent) => void;
    readonly traceparent: () => string | undefined;
    readonly random: Random;
  };
  /** The same store. A replay from it gets a span with a link to the original execution, if that used `options`. */
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
 * Reports decisions to OpenTelemetry. Each decision becomes a span, named after operation and decision, under the active span,
 * or else under the caller's trace context. Spans have the operation, the decision, the key's hash, the attempt and the error's
 * name. Metrics have the operation and the decision. Neither contains a payload or result, and only spans contain a key, with
 * `keys: "clear"`.
 *
 * Relay and sweeper get a span for each try to send a message, in the trace that the message carries from its commit. The span
 * links to the active span of the invocation (`invocation`).
 *
 * A replay's span links to the active span of the original execution (`onceonly.link` = `original`), if the store is `linked`. A
 * consumer's span links to the sender's (`caller`). Without a registered SDK, everything is dropped.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately.
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
