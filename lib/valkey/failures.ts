/** Distinguishes refusals by a server from temporary failures. Clients word the same error differently. */
import { type StoreFailure, StoreUnavailableError } from "../core/errors.ts";

interface Meaning {
  /** Matches the wording of servers and clients. */
  readonly pattern: RegExp;
  readonly failure: StoreFailure;
  readonly text: string;
  /** Over within seconds: a node is starting, failing over or handing over slots. */
  readonly isChanging?: true;
}

/** The first match wins. Names in capitals are the server's; valkey-glide has its own wording for some. */
const MEANINGS: readonly Meaning[] = [
  {
    pattern: /\bOOM\b/,
    failure: "throttled",
    text: "OOM, the server's memory is full: raise maxmemory",
  },
  {
    // WAIT words this differently. A primary that becomes a replica ends a pending WAIT with UNBLOCKED.
    pattern: /\bREADONLY\b|\bReadOnly\b|cannot be used with replica|\bUNBLOCKED\b/,
    failure: "unreachable",
    text: "READONLY, the server is a replica: connect to the primary",
    isChanging: true,
  },
  {
    pattern: /\bNOREPLICAS\b/,
    failure: "unreachable",
    text: "NOREPLICAS, fewer replicas than min-replicas-to-write",
  },
  { pattern: /\bMISCONF\b/, failure: "unreachable", text: "MISCONF, the server can't write to its disk" },
  {
    pattern:
      /\b(LOADING|BusyLoading\w*|MASTERDOWN|MasterDown|CLUSTERDOWN|ClusterDown|TRYAGAIN|TryAgain)\b|the cluster is down/,
    failure: "unreachable",
    text: "the server is starting or failing over, or a slot is being moved",
    isChanging: true,
  },
  {
    pattern: /\b(BUSY|UNKILLABLE)\b/,
    failure: "unreachable",
    text: "BUSY, the server is running another script",
  },
  {
    // The second is the error inside a script when the slot leaves the node.
    pattern: /\b(MOVED|Moved|ASK)\b|access a non local key|\bMaxCommandRedirections/,
    failure: "unreachable",
    text: "MOVED, another node of the cluster has this key now: use a cluster client",
    isChanging: true,
  },
  {
    // The second is the error inside a script.
    pattern: /\bNOPERM\b|user executing the script can't|\bPermissionDenied\b/,
    failure: "refused",
    text: "NOPERM, the user of this client lacks a permission: EVAL, EVALSHA, INFO, or a command or key in the script",
  },
  {
    pattern: /\b(NOAUTH|WRONGPASS|AuthenticationFailed)\b/,
    failure: "refused",
    text: "NOAUTH, the server rejected the login: check user name and password",
  },
  {
    pattern: /\bWRONGTYPE\b/,
    failure: "refused",
    text: "WRONGTYPE, something else uses a key with this store's prefix",
  },
  {
    pattern: /unknown command|Unknown command/,
    failure: "refused",
    text: "the server doesn't support a command: use Valkey, or Redis 6.2 or later (7.2 for `onDisk`)",
  },
];

const LOST = /SocketClosed|ConnectionError|ClosingError|AbortError|ECONNRESET|EPIPE|Connection is closed/;

/** A word is longer than `proto-max-bulk-len` allows. The server then closes the connection too. */
const TOO_LARGE = /invalid bulk length|string exceeds maximum allowed size/;

const wordsOf = (error: unknown): string => {
  const { name, code, message } = Object(error) as Record<string, unknown>;
  const kind = Object(error).constructor?.name;
  return [name, kind, code, message].filter((word) => typeof word === "string").join(" ");
};

/** The server doesn't have the script, or no longer has it. */
export const isUnknownScript = (error: unknown): boolean => /\bNOSCRIPT\b|\bNoScript/.test(wordsOf(error));

/** Whether another connection may work. */
export const isLostConnection = (error: unknown): boolean => LOST.test(wordsOf(error));

const meaningOf = (error: unknown): Meaning | undefined => {
  const words = wordsOf(error);
  return MEANINGS.find(({ pattern }) => pattern.test(words));
};

/** Whether the cluster is changing: the same request succeeds within seconds, perhaps on another node. */
export const isChanging = (error: unknown): boolean => meaningOf(error)?.isChanging === true;

/** The node (`host:port`) to use for this one request, because the slot is being moved there. */
export const askedAddress = (error: unknown): string | undefined =>
  /\bASK \d+ (\S+)/.exec(messageOf(error))?.[1];

/** The server or its client has refused a command with keys in different slots. */
export const isCrossSlot = (error: unknown): boolean =>
  /\b(CROSSSLOT|CrossSlot)\b|belong to the same slot|hash to the same slot/.test(wordsOf(error));

/** The server's memory is full: the same request may succeed later. */
export const isThrottle = (error: unknown): boolean => /\bOOM\b/.test(wordsOf(error));

/** The error comes from the server, as any client words it. */
const isServerError = (error: unknown): boolean =>
  /^(An error was signalled by the server|[A-Z]{3,} )/.test(messageOf(error));

const messageOf = (error: unknown): string => {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === "string" ? message : "";
};

/** @param action the request to the keys with this prefix, for the message */
export function valkeyFailure(error: unknown, action: string, prefix: string): StoreUnavailableError {
  hideValues(error);
  const meaning = meaningOf(error);
  const request = { action, table: prefix };
  if (meaning) return new StoreUnavailableError(meaning.failure, error, meaning.text, request);
  if (isServerError(error)) {
    const [, code = "ERR"] = /([A-Z]{3,})\b/.exec(messageOf(error)) ?? [];
    const refusal = new StoreUnavailableError("refused", error, `${code}, as the cause says`, request);
    if (TOO_LARGE.test(messageOf(error))) refusal.refusesContent = true;
    return refusal;
  }
  const { name, code } = Object(error) as { name?: unknown; code?: unknown };
  return new StoreUnavailableError("unreachable", error, `${code ?? name ?? "an unknown error"}`, request);
}

/** The server ends the connection at this request, but answers others. */
export function longWordRefusal(cause: unknown, action: string, prefix: string): StoreUnavailableError {
  const text = "it closes the connection when a string has this size: raise `proto-max-bulk-len`";
  const refusal = new StoreUnavailableError("refused", cause, text, { action, table: prefix });
  refusal.refusesContent = true;
  return refusal;
}

/** Hides the request's content, so that printing the error doesn't print it. */
function hideValues(error: unknown): void {
  for (const name of ["command", "args", "previousErrors", "lastNodeError"]) {
    if (Object.hasOwn(Object(error), name)) {
      Reflect.defineProperty(error as object, name, { enumerable: false });
    }
  }
}
