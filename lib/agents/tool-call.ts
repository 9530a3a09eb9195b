/** Reads one call of a tool: who calls, which key it has, and which arguments count. Checked before any I/O. */
import { reportDecision } from "../core/decisions.ts";
import {
  IdempotencyKeyInvalidError,
  IdempotencyKeyMissingError,
  PayloadInvalidError,
  ScopeMissingError,
} from "../core/errors.ts";
import { canonicalJson, fingerprintOf } from "../core/fingerprint.ts";
import { hashTuple, identify, keyFault, PUBLIC_SCOPE } from "../core/identity.ts";
import type { CallInput } from "../core/ongoing-call.ts";
import type { ResolvedOptions } from "../core/resolved-options.ts";
import type { OnceToolOptions } from "./options.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The parts of the toolkits' contexts that are read here: of MCP (versions 1 and 2), the AI SDK, OpenAI and LangChain. */
interface ToolContext {
  readonly _meta?: Fields;
  readonly signal?: AbortSignal;
  readonly abortSignal?: AbortSignal;
  readonly mcpReq?: ToolContext;
}

const partsOf = (context: readonly unknown[]): readonly ToolContext[] =>
  context.flatMap((each) => [Object(each) as ToolContext, Object(Object(each).mcpReq) as ToolContext]);

/** They abort when the caller has cancelled, or its connection is closed. */
export function signalsOf(context: readonly unknown[]): readonly AbortSignal[] {
  return partsOf(context)
    .flatMap(({ signal, abortSignal }) => [signal, abortSignal])
    .filter((signal) => typeof signal?.throwIfAborted === "function") as AbortSignal[];
}

/** @throws IdempotencyKeyMissingError, IdempotencyKeyInvalidError, ScopeMissingError, PayloadInvalidError */
export function readToolCall<Args extends object, Context extends readonly unknown[], Write>(
  { intent: declared, scope, plan }: OnceToolOptions<Args, Context, Write>,
  { operation, observe, keyPattern }: ResolvedOptions<Write>,
  args: Args,
  context: Context,
): CallInput {
  const meta = partsOf(context).find(({ _meta }) => _meta)?._meta;
  // A model fills in an optional argument with null.
  const given = (name: string) => meta?.[name] ?? (args as Fields)?.[name] ?? undefined;
  const intent = intentOf(declared, args);
  const owner = scope === "public" ? PUBLIC_SCOPE : scope(...context);
  if (scope !== "public" && !owner) {
    throw new ScopeMissingError(
      "`scope` returned no verified principal: authenticate the agent before it calls tools",
    );
  }
  const key = given("idempotencyKey") ?? keyInPlan(plan ? plan(args, ...context) : given("planId"), intent);
  if (key === undefined) {
    const error = new IdempotencyKeyMissingError(
      "no idempotency key and no plan id: pass `planId`, the id of the task or conversation, which stays the same when you plan again; or pass `idempotencyKey`",
    );
    reportDecision(observe, { operation }, { decision: "key-missing", durationMs: 0, error });
    throw error;
  }
  return {
    identity: identify(operation, owner as string, key as string, keyPattern),
    fingerprints: [fingerprintOf(intent)],
    payload: args,
  };
}

/** @throws PayloadInvalidError if an argument is missing: calls that differ in it would be the same call. */
function intentOf<Args extends object>(
  declared: OnceToolOptions<Args>["intent"],
  args: Args,
): NonNullable<unknown> {
  if (typeof declared === "function") {
    const intent = declared(args) ?? undefined;
    if (intent !== undefined) return intent;
    throw new PayloadInvalidError("`intent` returned nothing, so all calls of a plan would be the same call");
  }
  const missing = declared.filter((name) => (Object(args) as Fields)[name] === undefined);
  if (missing.length === 0) return Object.fromEntries(declared.map((name) => [name, args[name]]));
  throw new PayloadInvalidError(
    `the arguments lack ${missing.join(", ")}, which \`intent\` declares: pass ${missing.length === 1 ? "it" : "them"}`,
  );
}

/** @throws IdempotencyKeyInvalidError */
function keyInPlan(plan: unknown, intent: unknown): string | undefined {
  if (plan === undefined || plan === null) return undefined;
  const fault = keyFault(plan);
  if (fault !== undefined) throw new IdempotencyKeyInvalidError(`the plan id ${fault}`);
  return hashTuple("onceonly/tool/1", plan as string, canonicalJson(intent));
}
