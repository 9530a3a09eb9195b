/** Events of Cognito's triggers: what identifies one, and which part of the returned event is stored. Pure. */
import { IdempotencyKeyMissingError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The fields that all triggers share; `@types/aws-lambda` has the full types. */
interface TriggerEvent {
  readonly userPoolId: string;
  readonly triggerSource: string;
  readonly userName?: unknown;
  readonly request: Fields;
}

export function isTrigger(event: unknown): event is TriggerEvent {
  const { userPoolId, triggerSource, request } = Object(event) as Fields;
  return typeof userPoolId === "string" && typeof triggerSource === "string" && Object(request) === request;
}

/** Who the event is about. A password, a code and the client's metadata may be secrets, and their hash could be guessed. */
export function sentToTrigger({ userPoolId, triggerSource, userName, request }: TriggerEvent): unknown {
  const { userAttributes = null } = request;
  return { userPoolId, triggerSource, userName: userName ?? null, userAttributes };
}

/**
 * A trigger must return its event, and Cognito reads only `response`. So only that is stored: the rest may hold a password
 * or the client's metadata.
 */
export function storedOfTrigger(value: unknown): unknown {
  const { triggerSource, response } = Object(value) as Fields;
  return typeof triggerSource === "string" ? { response: response ?? {} } : value;
}

/** The event with the stored response. */
export function returnedByTrigger(event: object, stored: unknown): unknown {
  return Object(stored) === stored ? { ...event, ...(stored as object) } : stored;
}

/**
 * Cognito retries a trigger with the same event. A confirmation happens once for a user, and a custom sender gets a code of
 * its own for each message.
 * @throws IdempotencyKeyMissingError (`IDEMPOTENCY_KEY_MISSING`) for triggers of which nothing names the one sign-in, code
 * or reset.
 */
export function keyOfTrigger({ userPoolId, triggerSource, userName, request }: TriggerEvent): string {
  const { userAttributes, code } = request;
  const { sub = userName } = Object(userAttributes) as Fields;
  const isSender = /^Custom(SMS|Email)Sender_/.test(triggerSource) && typeof code === "string";
  if (typeof sub === "string" && (isSender || triggerSource === "PostConfirmation_ConfirmSignUp"))
    return hashTuple("onceonly/cognito/1", userPoolId, triggerSource, sub, isSender ? code : "");
  throw new IdempotencyKeyMissingError(
    `no idempotency key: Cognito's event doesn't say which ${/^\w{1,64}$/.test(triggerSource) ? triggerSource : "trigger"} it is, so a retry can't be distinguished from the user's next try: move the effect to PostConfirmation_ConfirmSignUp or a custom sender, or pass your own \`key\``,
  );
}
