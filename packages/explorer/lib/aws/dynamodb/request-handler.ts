/**
 * Replaces the HTTP client of an AWS SDK client: requests go to the model, and nothing leaves the process.
 */
import { DynamoDBError } from "./dynamodb-error.ts";
import { type JsonAnswer, jsonAnswer, jsonError, readJsonRequest } from "./json-protocol.ts";
import type { DynamoDBOperationName } from "./operations.ts";

interface HandlerRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface HandlerResponse {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

interface Cancellable {
  readonly abortSignal?: unknown;
}

/** The AWS SDK's interface HttpHandler. */
export interface ModelRequestHandler {
  handle(request: HandlerRequest, options?: Cancellable): Promise<{ response: HandlerResponse }>;
  destroy(): void;
  updateHttpClientConfig(): void;
  httpHandlerConfigs(): Record<string, never>;
}

export interface RequestHandlerOptions {
  now(): number;
  newRequestId(): string;
  call(operation: DynamoDBOperationName, input: object): Promise<unknown>;
}

/** Other errors than DynamoDB's count as network errors: the SDK gets them unchanged. */
export function requestHandler(options: RequestHandlerOptions): ModelRequestHandler {
  const answerTo = async ({ headers, body }: HandlerRequest): Promise<HandlerResponse> => {
    const { statusCode, body: text } = await answer(options, headers, textOf(body));
    return {
      statusCode,
      headers: {
        "content-type": "application/x-amz-json-1.0",
        date: new Date(options.now()).toUTCString(),
        "x-amzn-requestid": options.newRequestId(),
      },
      body: new TextEncoder().encode(text),
    };
  };
  return {
    handle: async (request, { abortSignal } = {}) => ({
      response: await unlessAborted(abortSignal as AbortSignal | undefined, () => answerTo(request)),
    }),
    destroy: () => undefined,
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

async function answer(
  { call }: RequestHandlerOptions,
  headers: HandlerRequest["headers"],
  body: string,
): Promise<JsonAnswer> {
  try {
    const { operation, input } = readJsonRequest(targetIn(headers), body);
    return jsonAnswer(await call(operation, input));
  } catch (error) {
    if (error instanceof DynamoDBError) return jsonError(error);
    throw error;
  }
}

function targetIn(headers: HandlerRequest["headers"]): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === "x-amz-target")?.[1];
}

function textOf(body: unknown): string {
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body ?? "");
}

/** A caller that aborts gets an error immediately, although the model may still execute the request. */
async function unlessAborted<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (signal === undefined) return work();
  if (signal.aborted) throw aborted();
  let stopListening: () => void = () => undefined;
  const abortion = new Promise<never>((_resolve, reject) => {
    const giveUp = () => reject(aborted());
    signal.addEventListener("abort", giveUp);
    stopListening = () => signal.removeEventListener("abort", giveUp);
  });
  try {
    return await Promise.race([work(), abortion]);
  } finally {
    stopListening();
  }
}

function aborted(): Error {
  return Object.assign(new Error("Request aborted"), { name: "AbortError" });
}
