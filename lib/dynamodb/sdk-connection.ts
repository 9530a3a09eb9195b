/** Over a client of the SDK: directly, or through its `send`, all of its middleware included. */
import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { systemClock } from "../core/clock.ts";
import type { Connection, DynamoDBAnswer, DynamoDBInputs, OperationName } from "./connection.ts";
import type { ClientOptions } from "./options.ts";
import {
  type Place,
  type RetryStrategy,
  type SdkClient,
  type SdkConfig,
  type SdkCredentials,
  SdkPlaces,
  SERVER_TIME,
  untouched,
  userAgentOf,
} from "./sdk-client.ts";
import { failureKind } from "./wire/failure-kind.ts";
import { clockOffsetOf, encodeInput, type HttpAnswer, NOTABLE_SKEW_MS, readAnswer } from "./wire/json.ts";
import { signedHeaders } from "./wire/signature.ts";

const COMMANDS: { readonly [Name in OperationName]: new (input: DynamoDBInputs[Name]) => object } = {
  BatchExecuteStatement: BatchExecuteStatementCommand,
  BatchGetItem: BatchGetItemCommand,
  GetItem: GetItemCommand,
  PutItem: PutItemCommand,
  Query: QueryCommand,
  TransactWriteItems: TransactWriteItemsCommand,
  UpdateItem: UpdateItemCommand,
};

/** The database's time (epoch ms) by the answer that told it. */
const serverTimes = new WeakMap<object, number>();

const watched = new WeakSet<object>();

/** Over the caller's client, or one of ours. */
export function sdkConnection({ client, direct }: ClientOptions): Connection {
  const used = (client as DynamoDBClient | undefined) ?? defaultClient();
  watchServerTime(used);
  const through: Connection = {
    async send<Name extends OperationName>(operation: Name, input: DynamoDBInputs[Name]) {
      const answer = await used.send(new COMMANDS[operation](input) as GetItemCommand);
      return { ...answer, serverTimeMs: answer && serverTimes.get(answer) } as DynamoDBAnswer<Name>;
    },
  };
  if (direct === false) return through;
  return new DirectConnection(used, untouched(used, client ? referenceClient : () => used), through);
}

let reference: DynamoDBClient | undefined;

function referenceClient(): DynamoDBClient {
  reference ??= new DynamoDBClient({ region: "us-east-1" });
  return reference;
}

function defaultClient(): DynamoDBClient {
  return new DynamoDBClient({
    // Without the last one a request that is over its time is only warned about.
    requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
    // The middleware of a command is the same each time.
    cacheMiddleware: true,
  });
}

/**
 * Notes the database's time from every answer of this client. Once for each client and before its first request. A client
 * with `cacheMiddleware` takes no notice of middleware that is added to a single request, or later.
 */
function watchServerTime({ middlewareStack }: Partial<DynamoDBClient>): void {
  // Test doubles have no stack, and tell no time.
  if (!middlewareStack || watched.has(middlewareStack)) return;
  watched.add(middlewareStack);
  middlewareStack.add(
    (next) =>
      async function readServerTime(args) {
        const answer = await next(args);
        const { date } = (answer.response as { headers?: Record<string, string> }).headers ?? {};
        const time = Date.parse(`${date}`);
        if (time && answer.output) serverTimes.set(answer.output, time);
        return answer;
      },
    // Outside of what makes an output of the response. It has no name: another copy of this package may add its own.
    { step: "deserialize", priority: "high", tags: [SERVER_TIME] },
  );
}

interface Request {
  readonly place: Place;
  readonly credentials: SdkCredentials;
  readonly target: string;
  readonly body: string;
  /** What is said of it in each try. */
  readonly headers: Readonly<Record<string, string>>;
  readonly maxAttempts: number;
}

class DirectConnection implements Connection {
  readonly #config: SdkConfig;
  readonly #isUntouched: () => boolean;
  readonly #through: Connection;
  readonly #places: SdkPlaces;
  #userAgent: string | undefined;

  /** @param through the same client, with its middleware */
  constructor({ config }: SdkClient, isUntouched: () => boolean, through: Connection) {
    this.#config = config;
    this.#isUntouched = isUntouched;
    this.#through = through;
    this.#places = new SdkPlaces(config);
  }

  send<Name extends OperationName>(
    operation: Name,
    input: DynamoDBInputs[Name],
  ): Promise<DynamoDBAnswer<Name>> {
    return this.#isUntouched() ? this.#send(operation, input) : this.#through.send(operation, input);
  }

  async #send<Name extends OperationName>(
    operation: Name,
    input: DynamoDBInputs[Name],
  ): Promise<DynamoDBAnswer<Name>> {
    const config = this.#config;
    const credentials = await config.credentials();
    const place = await this.#places.at(credentials, input);
    const strategy = await config.retryStrategy();
    // Strategies of the first version send requests themselves.
    if (!place || !("acquireInitialRetryToken" in strategy)) return this.#through.send(operation, input);
    this.#userAgent ??= await userAgentOf(config);
    const body = encodeInput(input);
    const headers = {
      "content-length": `${Buffer.byteLength(body)}`,
      "user-agent": this.#userAgent,
      "amz-sdk-invocation-id": randomUUID(),
    };
    const target = `DynamoDB_20120810.${operation}`;
    const maxAttempts = await config.maxAttempts();
    const request = { place, credentials, target, body, headers, maxAttempts };
    return (await this.#sendInTries(strategy, request)) as DynamoDBAnswer<Name>;
  }

  async #sendInTries(strategy: RetryStrategy, request: Request): Promise<object> {
    let token = await strategy.acquireInitialRetryToken("");
    for (let attempts = 1; ; attempts++) {
      try {
        const answer = await this.#try(request, attempts);
        strategy.recordSuccess(token);
        return answer;
      } catch (error) {
        const next = await strategy.refreshRetryTokenForRetry(token, failureOf(error)).catch(() => undefined);
        if (next === undefined) throw withMetadata(error, { attempts });
        token = next;
        const delayMs = token.getRetryDelay();
        if (delayMs > 0) await systemClock.sleep(delayMs);
      }
    }
  }

  async #try(request: Request, attempt: number): Promise<object> {
    const config = this.#config;
    const { place, credentials, target, body, headers, maxAttempts } = request;
    const { protocol, hostname, port, path, host, signingRegion: region } = place;
    const offsetMs = config.systemClockOffset;
    const sentAt = systemClock.now();
    const signed = signedHeaders({ host, path, region, target, body }, credentials, sentAt + offsetMs);
    const { response } = await config.requestHandler.handle({
      protocol,
      hostname,
      port,
      path,
      method: "POST",
      query: {},
      headers: { ...signed, ...headers, "amz-sdk-request": `attempt=${attempt}; max=${maxAttempts}` },
      body,
    });
    const answer: HttpAnswer = { ...response, body: await readBody(response.body) };
    try {
      return readAnswer(answer);
    } catch (error) {
      const hint = Number(response.headers["x-amz-retry-after"] ?? Number.NaN);
      if (hint >= 0) retryHints.set(error as object, new Date(systemClock.now() + hint));
      const clockSkewCorrected = await this.#correctsClock(answer, sentAt, offsetMs);
      throw clockSkewCorrected ? withMetadata(error, { clockSkewCorrected }) : error;
    }
  }

  /** Whether an answer shows that this machine's clock is wrong, and the next signature will say another time. */
  async #correctsClock(answer: HttpAnswer, sentAt: number, signedOffsetMs: number): Promise<boolean> {
    const config = this.#config;
    const offsetMs = clockOffsetOf(answer, sentAt, systemClock.now());
    if (offsetMs === undefined || Math.abs(offsetMs - signedOffsetMs) < NOTABLE_SKEW_MS) return false;
    if (await config.disableClockSkewCorrection?.()) return false;
    config.systemClockOffset = offsetMs;
    return true;
  }
}

type RetryFailure = Parameters<RetryStrategy["refreshRetryTokenForRetry"]>[1];

/** When the service wants to be asked again. */
const retryHints = new WeakMap<object, Date>();

function failureOf(error: unknown): RetryFailure {
  return {
    error,
    errorType: failureKind(error),
    retryAfterHint: retryHints.get(Object(error)),
  } as RetryFailure;
}

function withMetadata(error: unknown, more: object): unknown {
  const failure = error as { $metadata?: object };
  // A frozen error stays as it is.
  Reflect.set(Object(failure), "$metadata", { ...failure.$metadata, ...more });
  return error;
}

/** Handlers that fetch give one of these. */
type WebBody = ReadableStream | Blob | string | undefined;

/** @throws what the stream fails with; the answer may be cut anywhere */
async function readBody(body: unknown): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  if (typeof (body as Readable | undefined)?.on === "function") return readStream(body as Readable);
  return new Uint8Array(await new Response(body as WebBody).arrayBuffer());
}

function readStream(stream: Readable): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let isOver = false;
    stream.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    stream.once("end", () => {
      isOver = true;
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    stream.once("error", reject);
    stream.once("close", () => {
      if (!isOver) reject(Object.assign(new Error("the answer was cut off"), { code: "ECONNRESET" }));
    });
  });
}
