/** The answer that an operator records for an effect that happened, as text from a command or the console. */
import { hasCode } from "onceonly/kit";
import { UsageError } from "./command.ts";

/**
 * The text may be personal, and so may what a parser says of it.
 * @param where names the option or field in the message
 * @throws UsageError
 */
export function jsonAnswer(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${where} must be JSON, such as '{"statusCode":201}', or null for no answer`);
  }
}

/**
 * An HTTP response. A body in JSON gets its content type.
 * @throws UsageError
 */
export function responseAnswer(
  status: string,
  body: string,
  where: string,
  given: Readonly<Record<string, string>> = {},
): object {
  if (!/^[1-5]\d\d$/.test(status)) throw new UsageError(`${where} must be from 100 to 599 (got ${status})`);
  const headers = isJson(body) ? { "content-type": "application/json", ...given } : given;
  return { statusCode: Number(status), headers, body };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return /^\s*[[{]/.test(text);
  } catch {
    return false;
  }
}

/** Why the library refused a store: it doesn't encrypt, or it doesn't hold the records. */
export function aboutStore(error: unknown, lacksKeys: string): UsageError {
  const { message } = error as Error;
  return new UsageError(
    message.includes("`cached`")
      ? "--store must export the store that holds the records, without `cached` or `migrating` in front of it"
      : lacksKeys,
  );
}

/**
 * What to do about an answer that the library refused; any other error as it is.
 * @param whole how to pass a whole HTTP response
 */
export function aboutAnswer(error: unknown, whole: string): unknown {
  const { option } = Object(error) as { readonly option?: string };
  if (!hasCode(error, "INVALID_OPTION")) return error;
  if (option === "result")
    return new UsageError(`this is an HTTP operation, so callers need a whole response: ${whole}`);
  if (option !== "store") return error;
  return aboutStore(
    error,
    "this key's results are encrypted, and the answer would be stored unencrypted: use `onceonly resolve` with --store and a module that exports the handler's `encrypted` store",
  );
}
