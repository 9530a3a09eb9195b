/** The key of events that no other function reads: of WebSocket APIs, IoT rules and Cognito's triggers. */
import { IdempotencyKeyMissingError, PayloadInvalidError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import type { LambdaContext } from "../core/lambda-context.ts";
import { checkOptions } from "../core/option-checks.ts";
import { isTrigger, keyOfTrigger } from "./cognito.ts";
import { readBody } from "./http/read-body.ts";

export interface EventFieldOptions {
  /**
   * The field in which the client sends its id for an operation, the same with each try: in the JSON body of a WebSocket
   * message, or in the event of an IoT rule or any other caller.
   * @default "requestId"
   */
  readonly field?: string;
}

/** The `key` that `keyFromEvent` returns. The compiler infers the handler's event from the handler. */
export interface EventKey {
  (event: unknown, context?: LambdaContext): string;
  (): string;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Makes a `key` that recognizes the event:
 *
 * - a message of a WebSocket API: `field` in its JSON body, because a client that reconnects has another connection id.
 *   Connecting and disconnecting: the connection
 * - a Cognito trigger: the user for `PostConfirmation_ConfirmSignUp`, the user and the code for a custom sender. Other
 *   triggers are refused, because nothing names the one sign-in or reset
 * - any other event, such as an IoT rule's: `field` in the event
 *
 * Clients choose these ids, so set `scope` to the verified client.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately. On events: IdempotencyKeyMissingError
 * (`IDEMPOTENCY_KEY_MISSING`), which names the field that the client should send; PayloadInvalidError (`PAYLOAD_INVALID`)
 * for a message that isn't JSON, and for events of SNS, S3, EventBridge, queues and HTTP, whose keys other functions read.
 */
export function keyFromEvent(options: EventFieldOptions = {}): EventKey {
  checkOptions(
    options,
    { field: ["must be the name of a field", (value) => typeof value === "string" && value !== ""] },
    [],
  );
  const { field = "requestId" } = options;
  return (event?: unknown) => {
    if (isTrigger(event)) return keyOfTrigger(event);
    const { requestContext, body, isBase64Encoded } = Object(event);
    const { eventType, apiId, stage, connectionId } = Object(requestContext);
    if (typeof connectionId === "string") {
      if (eventType !== "MESSAGE")
        return hashTuple("onceonly/websocket/1", `${apiId}`, `${stage}`, `${eventType}`, connectionId);
      return idIn(parsed(readBody({ body, isBase64Encoded }), field), field, "the WebSocket message");
    }
    refuseOthers(Object(event) as Fields);
    return idIn(event, field, "the event");
  };
}

function idIn(holder: unknown, field: string, where: string): string {
  const id: unknown = (Object(holder) as Fields)[field];
  if (typeof id === "string" && id !== "") return id;
  const found = id === undefined ? "none" : Array.isArray(id) ? "array" : typeof id;
  throw new IdempotencyKeyMissingError(
    `no idempotency key: ${where} must have \`${field}\` (got ${found}): let the client send a string that is unique to the operation and the same with each try`,
  );
}

function parsed(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PayloadInvalidError(
      `the WebSocket message isn't JSON, so it can't have \`${field}\`: send an object, or pass your own \`key\``,
      "the message isn't JSON",
    );
  }
}

/** Each has an id of its own, or several operations in one event. */
function refuseOthers({ Records, records, "detail-type": type, requestContext, eventSource }: Fields): void {
  const isOther = [Records, records, type, requestContext, eventSource].some((each) => each !== undefined);
  if (!isOther) return;
  throw new PayloadInvalidError(
    "keyFromEvent reads WebSocket messages, Cognito triggers, IoT rules and plain events: use keyFromSns(), keyFromS3() or keyFromEventBridge() for those services, httpIdempotent for HTTP, and idempotentBatch for queues and streams",
  );
}
