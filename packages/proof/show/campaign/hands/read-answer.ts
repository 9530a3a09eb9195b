// What a caller can conclude from its answer: a result, a response or an error. Pure.
import { createHash } from "node:crypto";
import { isOnceonlyError } from "onceonly";
import type { Answer, Word } from "../asking.ts";
import { HandlerFailure, type Said } from "./handlers.ts";

const WORD_OF: Readonly<Record<string, Word>> = {
  TRANSACTION_CONDITION: "not-written",
  FINGERPRINT_MISMATCH: "mismatch",
  EXECUTION_IN_PROGRESS: "in-progress",
  CLAIM_LOST: "lost",
  STORE_UNAVAILABLE: "outage",
};

interface Response {
  readonly statusCode: number;
  readonly body: string;
}

export function readResult(result: unknown): Answer {
  const response = result as Partial<Response> | null | undefined;
  if (typeof response?.statusCode !== "number") return readSaid(result, result);
  const body: unknown = JSON.parse(String(response.body));
  if (isSaid(body)) return readSaid(body, [response.statusCode, response.body]);
  return ofCode(String(Object(body).code), `status ${response.statusCode}`);
}

/** @param run of the call; @param isOfHandler whether the handler of this very call threw it */
export function readError(error: unknown, run: number, isOfHandler: boolean): Answer {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof HandlerFailure) return { says: error.says, run };
  if (isOnceonlyError(error)) {
    if (error.code === "PERMANENT") {
      const ofRun = /^refused by run (\d+)$/.exec(message)?.[1];
      return {
        says: ofRun ? "refused" : "other",
        run: Number(ofRun),
        digest: digestOf(message),
        detail: message,
      };
    }
    return { ...ofCode(error.code, message), run };
  }
  // The process's own deadline: one of Middy's responses, which doesn't reveal the outcome.
  if (Object(Object(error).cause).package === "@middy/core") return { says: "outage", detail: message };
  return isOfHandler
    ? { says: "failed", run, detail: message }
    : { says: "other", run, detail: `${Object(error).name}: ${message}` };
}

function readSaid(value: unknown, whole: unknown): Answer {
  if (!isSaid(value)) return { says: "other", detail: `the result ${JSON.stringify(value)?.slice(0, 80)}` };
  const { says, run, owner } = value;
  return { says, run, ...(owner !== undefined && { owner }), digest: digestOf(JSON.stringify(whole)) };
}

function isSaid(value: unknown): value is Said {
  const { says, run } = Object(value) as Partial<Said>;
  return typeof says === "string" && typeof run === "number";
}

function ofCode(code: string, detail: string): Answer {
  const says = WORD_OF[code] ?? "other";
  return { says, detail: says === "other" ? `${code}: ${detail}` : code };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 12);
}
