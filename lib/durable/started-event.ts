/** Reads what an event asks to start: one record or many, with their keys and payloads. */
import { IdempotencyKeyMissingError, InvalidOptionError } from "../core/errors.ts";
import type { LambdaContext } from "../core/lambda-context.ts";
import { ownerOf } from "../lambda/adapter.ts";
import { isBusEvent } from "../lambda/batch/bus-event.ts";
import { keyFromEventBridge, keyFromSns } from "../lambda/batch/event-keys.ts";
import type { BatchItem } from "../lambda/batch/item.ts";
import { isBatchArray } from "../lambda/batch/read-event.ts";
import { parseKeyHeader } from "../lambda/http/adapter.ts";
import { readHttpEvent } from "../lambda/http/event.ts";
import { readBody } from "../lambda/http/read-body.ts";
import type { Start } from "./start-execution.ts";
import type { StartSettings } from "./start-options.ts";

type Members = Readonly<Record<string, unknown>>;

/** A record, as its source delivers it. */
interface Delivered {
  readonly record: unknown;
  /** The key if the options have none. */
  readonly ownKey: () => string | undefined;
  /** What was sent. */
  readonly content: () => unknown;
  readonly isHttp?: boolean;
}

/**
 * @throws IdempotencyKeyMissingError, IdempotencyKeyInvalidError, ScopeMissingError, PayloadInvalidError; InvalidOptionError if HTTP
 * requests have no `scope`
 */
export function startOf(
  { key, scope, payload }: StartSettings,
  { record, ownKey, content, isHttp = false }: Delivered,
  context: LambdaContext,
): Start {
  if (isHttp && scope === undefined) {
    throw new InvalidOptionError(
      "scope",
      'is required for HTTP requests: pass the verified caller, such as `callerFromJwt()`, or "public"',
    );
  }
  const found = key ? key(record, context) : ownKey();
  if (found === undefined || found === null)
    throw new IdempotencyKeyMissingError("no idempotency key: send a key that is unique to this operation");
  const owner = ownerOf(scope ?? "public", record, context);
  return { key: found, scope: owner, payload: payload ? payload(record, found) : content() };
}

/** A record of a queue or a stream. */
export function ofItem(item: BatchItem): Delivered {
  return {
    record: item.record,
    ownKey: () => item.envelopeKey?.() ?? item.ownKey,
    content: () => contentOf(item),
  };
}

/** Any other event. */
export function ofEvent(event: unknown, { trustedForwarders }: StartSettings): Delivered {
  const given = Object(event) as Members;
  const options = trustedForwarders ? { trustedForwarders } : {};
  if (isHttp(given)) {
    return {
      record: event,
      isHttp: true,
      ownKey: () => parseKeyHeader(readHttpEvent(event).headers("Idempotency-Key")),
      content: () => parsed(readBody(given)),
    };
  }
  if (isSns(given)) {
    const [record] = given.Records as [Members];
    const { Message } = Object(record.Sns) as Members;
    return { record, ownKey: () => keyFromSns(options)(event as never), content: () => parsed(Message) };
  }
  if (typeof given["detail-type"] === "string") {
    return {
      record: event,
      ownKey: () => keyFromEventBridge(options)(event as never),
      content: () => given.detail,
    };
  }
  return { record: event, ownKey: () => undefined, content: () => event };
}

export function isHttp({ httpMethod, requestContext }: Members): boolean {
  const { http } = Object(requestContext) as Members;
  return typeof httpMethod === "string" || typeof (Object(http) as Members).method === "string";
}

/** Lambda invokes with one notification at a time. */
function isSns({ Records }: Members): boolean {
  return Array.isArray(Records) && (Object(Records[0]) as Members).EventSource === "aws:sns";
}

/** Whether the event is one of a queue or a stream, or the array of a pipe or a custom event bus. */
export function isBatch(event: unknown): boolean {
  if (isBatchArray(event)) return true;
  const { Records, records, eventSource } = Object(event) as Members;
  const [first] = Array.isArray(Records) ? Records : [];
  const isOfAws =
    typeof (Object(first) as Members).eventSource === "string" || (Array.isArray(Records) && !first);
  return isOfAws || typeof records === "object" || eventSource === "aws:mq" || eventSource === "aws:rmq";
}

function contentOf({ record, body }: BatchItem): unknown {
  if (isBusEvent(record)) {
    const { "detail-type": type, detail } = Object(body) as Members;
    return typeof type === "string" ? detail : body;
  }
  const { kinesis = record, topic, value } = Object(record) as Members;
  const { data } = Object(kinesis) as Members;
  const encoded = typeof data === "string" ? data : typeof topic === "string" ? value : undefined;
  return typeof encoded === "string" ? parsed(Buffer.from(encoded, "base64").toString()) : parsed(body);
}

/** JSON as its value, any other text as it is. */
function parsed(sent: unknown): unknown {
  if (typeof sent !== "string") return sent;
  try {
    return JSON.parse(sent);
  } catch {
    return sent;
  }
}
