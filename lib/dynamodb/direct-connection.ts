/**
 * Over the configuration of an SDK's client, past its middleware: its Region, endpoint, credentials, request handler and
 * retries, at a third of the processor time. Requests of a client that is not the SDK's alone any more go through its `send`.
 */
import { randomUUID } from "node:crypto";
import { systemClock } from "../core/clock.ts";
import type { Answer, Connection, Inputs, OperationName } from "./connection.ts";
import { readBody } from "./read-body.ts";
import type { RetryStrategy, SdkClient, SdkConfig, SdkCredentials } from "./sdk-client.ts";
import { type Place, SdkPlaces } from "./sdk-place.ts";
import { userAgentOf } from "./user-agent.ts";
import { clockOffsetOf, NOTABLE_SKEW_MS } from "./wire/clock-offset.ts";
import { failureKind } from "./wire/failure-kind.ts";
import { encodeInput } from "./wire/json-values.ts";
import { type HttpAnswer, readAnswer } from "./wire/read-answer.ts";
import { signedHeaders } from "./wire/signature.ts";

interface Request {
  readonly place: Place;
  readonly credentials: SdkCredentials;
  readonly target: string;
  readonly body: string;
  /** What is said of it in each try. */
  readonly headers: Readonly<Record<string, string>>;
  readonly maxAttempts: number;
}

export class DirectConnection implements Connection {
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

  send<Name extends OperationName>(operation: Name, input: Inputs[Name]): Promise<Answer<Name>> {
    return this.#isUntouched() ? this.#send(operation, input) : this.#through.send(operation, input);
  }

  async #send<Name extends OperationName>(operation: Name, input: Inputs[Name]): Promise<Answer<Name>> {
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
    return (await this.#sendInTries(strategy, request)) as Answer<Name>;
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
    const answer = { ...response, body: await readBody(response.body) };
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

/** When the service wants to be asked again. */
const retryHints = new WeakMap<object, Date>();

function failureOf(error: unknown) {
  return { error, errorType: failureKind(error), retryAfterHint: retryHints.get(Object(error)) };
}

function withMetadata(error: unknown, more: object): unknown {
  const failure = error as { $metadata?: object };
  // A frozen error stays as it is.
  Reflect.set(Object(failure), "$metadata", { ...failure.$metadata, ...more });
  return error;
}
