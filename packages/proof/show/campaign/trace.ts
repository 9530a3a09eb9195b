// One key's story, in lines: its calls, what happened to its requests, and the results.

import { ATTRIBUTES } from "../../../../lib/contract.ts";
import type { ObservedRequest } from "../../../local/lib/fault-proxy.ts";
import type { Violation } from "./judge/violation.ts";
import type { Call, Subject, TraceEvent } from "./subject.ts";

export function traceOf(subject: Subject): string[] {
  const events = [...subject.calls.flatMap(eventsOf), ...subject.events].sort(
    (one, other) => one.at - other.at,
  );
  const start = events[0]?.at ?? 0;
  return events.map(({ at, text }) => `${String(at - start).padStart(6)} ms  ${text}`);
}

export function describeViolation({ kind, detail, subject }: Violation): string {
  return subject ? `${kind}: ${detail} (${subject.variant.name}, key ${subject.key})` : `${kind}: ${detail}`;
}

function eventsOf(call: Call): TraceEvent[] {
  const { id, host, version, mood, startedAt, handlerStartedAt, handlerEndedAt, endedAt, answer } = call;
  const name = `call ${id}`;
  const took = `${mood.beforeMs} + ${mood.afterMs} ms`;
  const events: TraceEvent[] = [
    {
      at: startedAt,
      text: `${name} goes to host ${host}: payload ${version}, its handler is to ${mood.fate}, ${took}`,
    },
  ];
  if (handlerStartedAt !== undefined) {
    events.push({ at: handlerStartedAt, text: `${name}: the handler starts, attempt ${call.attempt}` });
  }
  if (handlerEndedAt !== undefined)
    events.push({ at: handlerEndedAt, text: `${name}: the handler has ended` });
  if (endedAt !== undefined) {
    const got = answer ? wordsOf(call) : "nothing: its process was killed";
    events.push({ at: endedAt, text: `${name} gets ${got}` });
  }
  return events;
}

function wordsOf({ answer, decisions }: Call): string {
  const { says, run, owner, detail } = answer ?? {};
  const of = run === undefined ? "" : ` of run ${run}`;
  const because = detail === undefined ? "" : ` (${detail})`;
  const whose = owner === undefined ? "" : `, owner ${owner}`;
  return `${says}${of}${whose}${because}; decisions: ${decisions.join(", ") || "none"}`;
}

interface WriteBody {
  readonly Key?: { readonly pk?: { readonly S?: string } };
  readonly Item?: Readonly<Record<string, { readonly S?: string }>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, { readonly S?: string }>>;
  readonly TransactItems?: readonly Readonly<Record<string, WriteBody>>[];
}

export interface SeenRequest {
  readonly recordKey: string | undefined;
  /** Such as `UpdateItem to in-progress by 3f2a`. */
  readonly text: string;
}

/** Names the record that a request is about, and what the request would do to it. */
export function describeRequest({ operation, body }: ObservedRequest): SeenRequest {
  const own = recordWriteOf(body as WriteBody);
  const state = own?.Item?.[ATTRIBUTES.state]?.S ?? own?.ExpressionAttributeValues?.[":state"]?.S;
  const token = own?.Item?.[ATTRIBUTES.token]?.S ?? own?.ExpressionAttributeValues?.[":token"]?.S;
  const to = state === undefined ? "" : ` to ${state}`;
  const by = token === undefined ? "" : ` by ${token.slice(0, 4)}`;
  return { recordKey: own?.Key?.pk?.S ?? own?.Item?.pk?.S, text: `${operation}${to}${by}` };
}

/** The record comes first in a transaction. */
function recordWriteOf(body: WriteBody): WriteBody | undefined {
  const [first] = body.TransactItems ?? [];
  return first ? Object.values(first)[0] : body;
}
