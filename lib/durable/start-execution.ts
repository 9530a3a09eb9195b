/** Starts a durable execution by a name that is made of the key, so that Lambda starts it once. */
import { FingerprintMismatchError } from "../core/errors.ts";
import { canonicalJson, fingerprintsOf } from "../core/fingerprint.ts";
import { identify } from "../core/identity.ts";
import type { StartedExecution, StartSettings } from "./start-options.ts";

/** https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html */
const MAX_NAME_LENGTH = 64;

/** What one delivery asks for. */
export interface Start {
  readonly key: string;
  /** Empty for public operations. */
  readonly scope: string;
  readonly payload: unknown;
}

/**
 * An execution of that name with the same payload counts as started: Lambda returns it. The payload is sent as canonical JSON,
 * so that two deliveries that differ only in the order of names have the same bytes.
 * @throws IdempotencyKeyInvalidError, PayloadInvalidError before any I/O; FingerprintMismatchError; the client's errors
 */
export async function startExecution(settings: StartSettings, start: Start): Promise<StartedExecution> {
  const { client, functionName: FunctionName } = settings;
  const name = nameOf(settings.operation, start);
  const Payload = Buffer.from(canonicalJson(start.payload ?? null)).toString();
  const input = { FunctionName, InvocationType: "Event", DurableExecutionName: name, Payload } as const;
  try {
    const { DurableExecutionArn: arn } = await client.invoke(input);
    return { name, arn };
  } catch (error) {
    if (Object(error).name !== "DurableExecutionAlreadyStartedException") throw error;
    const arn = await findExecution(settings, name);
    if (arn === undefined) throw error;
    await refuseAnother(settings, arn, start);
    return { name, arn };
  }
}

/**
 * @throws IdempotencyKeyInvalidError (`IDEMPOTENCY_KEY_INVALID`), ScopeMissingError (`SCOPE_MISSING`)
 */
function nameOf(operation: string, { scope, key }: Start): string {
  const { keyHash } = identify(operation, scope, key);
  const readable = operation.replace(/[^\w-]/g, "-").slice(0, MAX_NAME_LENGTH - keyHash.length - 1);
  return `${readable}-${keyHash}`;
}

/** The ARN of the execution with this name, in any version of the function. */
export async function findExecution(
  { client, functionName }: StartSettings,
  name: string,
): Promise<string | undefined> {
  const about = { FunctionName: unqualified(functionName), DurableExecutionName: name };
  let Marker: string | undefined;
  do {
    const page = await client.listDurableExecutionsByFunction({ ...about, Marker });
    // The filter also matches names that only contain this one.
    const found = page.DurableExecutions?.find((each) => each.DurableExecutionName === name);
    if (found) return found.DurableExecutionArn;
    Marker = page.NextMarker;
  } while (Marker);
  return undefined;
}

const unqualified = (functionName: string) => functionName.slice(0, functionName.lastIndexOf(":"));

/** @throws FingerprintMismatchError (`FINGERPRINT_MISMATCH`) if the execution was started for another request */
async function refuseAnother(
  { client, fingerprint = (payload: unknown) => payload }: StartSettings,
  DurableExecutionArn: string,
  { payload }: Start,
): Promise<void> {
  const { InputPayload = "null" } = await client.getDurableExecution({ DurableExecutionArn });
  const [ours, theirs] = [payload ?? null, JSON.parse(InputPayload)].map((each) =>
    fingerprintsOf([fingerprint as (payload: unknown) => unknown], each).join(),
  );
  if (ours !== theirs) throw new FingerprintMismatchError();
}
