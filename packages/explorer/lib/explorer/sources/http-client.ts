/**
 * A client of an HTTP API: sends the request under the same key until it gets a final response. It waits
 * for `Retry-After`, or longer each time, and gives up after a time limit.
 */
import type { Invocation } from "../../simulator/invocation.ts";
import { plainDetail, plainOf, plainText } from "../plain-value.ts";
import {
  failedAnswer,
  type Source,
  type SourceAnswer,
  type SourceStage,
  statusCodeOf,
  undoneIn,
} from "../source.ts";

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 60_000;

/** In progress elsewhere, too early, too many requests, or a server error: the client retries. */
const isRetried = (status: number) => [408, 409, 425, 429].includes(status) || status >= 500;

export const httpClient: Source = {
  kind: "http",
  sender: "the client",
  prepare() {},
  async deliver(stage) {
    const { clock, patienceMs, note } = stage;
    const until = clock.now() + patienceMs;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      const { answer, retryAfterMs } = await ask(stage);
      note(answer);
      if (answer.isSuccess || clock.now() >= until) return;
      await clock.sleep(retryAfterMs ?? waitMs);
    }
  },
  async repeat(stage) {
    return (await ask(stage)).answer;
  },
};

async function ask(
  stage: SourceStage,
): Promise<{ readonly answer: SourceAnswer; readonly retryAfterMs?: number | undefined }> {
  const invocation = await stage.fn.invoke(arriving(stage));
  const { number } = invocation;
  if (invocation.outcome !== "returned") return { answer: failedAnswer(invocation) };
  const { status, headers, body } = readAnswer(invocation, stage.event);
  // An expected status is final, unless the response itself says when to retry.
  const detail = plainDetail(body);
  const isEnd = status === stage.expectedStatus || undoneIn(detail) !== undefined;
  const isFinal = isEnd && headers["retry-after"] === undefined;
  if (isRetried(status) && !isFinal) {
    const after = Number(headers["retry-after"]);
    const retryAfterMs = Number.isFinite(after) ? after * 1000 + 1000 : undefined;
    const hint = retryAfterMs === undefined ? "" : `, Retry-After: ${after}`;
    return {
      answer: {
        isSuccess: false,
        invocation: number,
        words: `answer ${status}${hint}`,
        status,
        detail,
      },
      retryAfterMs,
    };
  }
  const isReplay = headers[REPLAY_HEADER] !== undefined;
  const content = { status, headers: safe(headers), body };
  const words = `answer ${status}${isReplay ? ", replayed" : ""}`;
  return { answer: { isSuccess: true, invocation: number, words, status, detail, content } };
}

const REPLAY_HEADER = "idempotent-replayed";
/** Headers that belong to one transmission, or are not replayed. */
const UNSAFE_HEADERS = [REPLAY_HEADER, "date", "set-cookie", "connection", "x-request-id", "age"];

function safe(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).filter(
    ([name]) => !UNSAFE_HEADERS.includes(name) && !name.startsWith("x-amz"),
  );
  return Object.fromEntries(entries);
}

/**
 * The API's response for a function's result. A result without a status is a body in payload version 2; REST APIs and
 * load balancers refuse such a result.
 */
function readAnswer({ value }: Extract<Invocation, { outcome: "returned" }>, event: unknown) {
  const result = Object(value) as Readonly<Record<string, unknown>>;
  const status = statusCodeOf(result);
  if (status === undefined) {
    const isBody = Object(Object(event).requestContext).http !== undefined;
    if (isBody) return { status: 200, headers: {} as Record<string, string>, body: plainOf(value) };
    return { status: 502, headers: {} as Record<string, string>, body: "the handler returned no statusCode" };
  }
  const lines = { ...Object(result.multiValueHeaders), ...Object(result.headers) } as Record<string, unknown>;
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(lines)) headers[name.toLowerCase()] = String(text);
  return { status, headers, body: plainText(String(result.body ?? "")) };
}

/** The event with the fields that the API sets again for each request. */
function arriving({ event, clock, newId }: SourceStage): unknown {
  const { requestContext, ...rest } = structuredClone(event) as { requestContext?: Record<string, unknown> };
  if (requestContext === undefined) return rest;
  const now = clock.now();
  return {
    ...rest,
    requestContext: {
      ...requestContext,
      requestId: newId(),
      ...(requestContext.elb === undefined &&
        ("http" in requestContext ? { timeEpoch: now } : { requestTimeEpoch: now })),
    },
  };
}
