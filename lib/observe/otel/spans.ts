/** A span for each decision, with its outcome, and links to related spans. */
import {
  type Context,
  context,
  type Link,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { DecisionEvent } from "../../core/decisions.ts";
import { readTraceparent } from "../../core/traceparent.ts";
import type { SendEvent } from "../measurements.ts";
import { attributesOf } from "./instruments.ts";

import type { Originals } from "./linked-store.ts";

export interface SpanWriter {
  readonly tracer: Tracer;
  readonly originals: Originals;
  readonly nowMs: () => number;
  /** How a span shows an owner of keys. */
  readonly scopeOf: (scope: string | undefined) => object;
  readonly showsKeys: boolean;
}

/** Refused, or lost: the caller did not get the requested result. */
const FAILED = /^(store-failed|completion-lost|outcome-unknown|held|mismatch|claim-lost)$/;

export function writeSpan(
  { tracer, originals, nowMs, scopeOf, showsKeys }: SpanWriter,
  event: DecisionEvent,
): void {
  const { decision, operation, keyHash, key, attempt, durationMs, error, traceparent } = event;
  const caller = spanContextOf(traceparent);
  const active = trace.getActiveSpan()?.spanContext();
  const original = decision === "replayed" ? spanContextOf(originals.of(keyHash)) : undefined;
  const links = [
    ...linkTo(original, "original"),
    // A batch invocation has a separate trace, and each message continues its sender's.
    ...(active && caller && active.traceId !== caller.traceId ? linkTo(caller, "caller") : []),
  ];
  const endTime = nowMs();
  const span = tracer.startSpan(
    `${operation} ${decision}`,
    {
      startTime: endTime - durationMs,
      links,
      attributes: {
        ...attributesOf(operation, error, { "onceonly.decision": decision }),
        ...scopeOf(event.scope),
        ...(keyHash !== undefined && { "onceonly.key_hash": keyHash }),
        ...(showsKeys && key !== undefined && { "onceonly.key": key }),
        ...(attempt !== undefined && { "onceonly.attempt": attempt }),
      },
    },
    active || !caller ? context.active() : remote(caller),
  );
  if (FAILED.test(decision)) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(endTime);
}

/** https://opentelemetry.io/docs/specs/semconv/registry/attributes/messaging */
const SYSTEMS: Readonly<Record<string, string>> = {
  queue: "aws_sqs",
  topic: "aws.sns",
  bus: "aws.eventbridge",
};

/** In the trace of the message's commit. The invocation sends messages of many traces, so it is linked. */
export function writeSendSpan({ tracer }: SpanWriter, event: SendEvent): void {
  const { operation, by, keyHash, outcome, to, code, durationMs, endedAt } = event;
  const committer = spanContextOf(event.traceparent);
  const active = trace.getActiveSpan()?.spanContext();
  const [kind, destination] = to?.split("/") ?? [];
  const span = tracer.startSpan(
    `${operation} ${outcome}`,
    {
      kind: SpanKind.PRODUCER,
      startTime: endedAt - durationMs,
      links: committer && active?.traceId !== committer.traceId ? linkTo(active, "invocation") : [],
      attributes: {
        "onceonly.operation": operation,
        "onceonly.event": outcome,
        "onceonly.by": by,
        "onceonly.key_hash": keyHash,
        "messaging.operation.type": "send",
        ...(kind !== undefined && { "messaging.system": SYSTEMS[kind] }),
        ...(destination !== undefined && { "messaging.destination.name": destination }),
        ...(code !== undefined && { "error.type": code }),
      },
    },
    committer ? remote(committer) : context.active(),
  );
  if (outcome !== "sent") span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(endedAt);
}

const linkTo = (to: SpanContext | undefined, relation: string): Link[] =>
  to ? [{ context: to, attributes: { "onceonly.link": relation } }] : [];

const remote = (caller: SpanContext): Context => trace.setSpanContext(context.active(), caller);

function spanContextOf(traceparent: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = readTraceparent(traceparent)?.split("-") ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** The W3C trace context of the active span. */
export function activeTraceparent(): string | undefined {
  const active = trace.getActiveSpan()?.spanContext();
  if (!active) return undefined;
  const flags = active.traceFlags.toString(16).padStart(2, "0");
  return readTraceparent(`00-${active.traceId}-${active.spanId}-${flags}`);
}
