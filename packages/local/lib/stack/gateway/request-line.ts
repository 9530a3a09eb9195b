// One line for people about one request: which function answered, how, and for which idempotency key. Pure.
import type { IncomingMessage } from "node:http";
import type { GatewayResponse } from "./response.ts";

export interface AnsweredRequest {
  readonly message: Pick<IncomingMessage, "method" | "url" | "headers">;
  /** The function; absent if the gateway responded by itself. */
  readonly target: string | undefined;
  readonly answer: GatewayResponse;
  readonly tookMs: number;
}

/** Keys may have 255 characters, and come from anybody. */
const SHOWN_CHARACTERS = 60;

/** For example `CreateOrder  POST /orders  201 replayed  order-0001  6 ms`. */
export function requestLine({ message, target, answer, tookMs }: AnsweredRequest): string {
  const key = message.headers["idempotency-key"];
  const [path] = (message.url ?? "/").split("?");
  const outcome = [answer.statusCode, key === undefined ? undefined : outcomeOf(answer)];
  const parts = [target, `${message.method} ${path}`, outcome.join(" ").trim(), shown(key), `${tookMs} ms`];
  return parts.filter((part) => part !== undefined).join("  ");
}

/** A problem's code, `replayed`, or nothing if the response doesn't show either. */
function outcomeOf({ headers, body }: GatewayResponse): string | undefined {
  const header = (name: string) => Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  if (header("idempotent-replayed") !== undefined) return "replayed";
  if (!String(header("content-type")).startsWith("application/problem+json")) return undefined;
  const { code } = Object(parsed(body)) as { code?: unknown };
  return typeof code === "string" ? code.toLowerCase().replaceAll("_", " ") : undefined;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function shown(key: string | readonly string[] | undefined): string | undefined {
  const text = key === undefined ? undefined : String(key).replace(/^"(.*)"$/, "$1");
  return text && text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
