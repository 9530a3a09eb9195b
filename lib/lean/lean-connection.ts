/** Sends requests to a service: signed, within their time limits, and retried after temporary failures. */
import type { Clock, Random } from "../core/clock.ts";
import { type Credentials, signedHeaders } from "../dynamodb/wire/signature.ts";
import { FULL_BUDGET } from "./client-state.ts";
import { type CredentialSource, HeldCredentials } from "./credentials.ts";
import { type Endpoint, type EndpointOptions, placeOf } from "./endpoint.ts";
import { environment } from "./environment.ts";
import { HttpTransport, type TransportError, type TransportOptions } from "./http-transport.ts";
import { RetryBudget, retryAfterMs } from "./retry-budget.ts";
import type { LeanService } from "./service.ts";
import { ServiceClock } from "./service-clock.ts";

interface ConnectionOptions extends EndpointOptions, TransportOptions {
  readonly credentials: CredentialSource;
  readonly maxAttempts: number;
  readonly clock: Clock;
  readonly random: Random;
}

interface LeanParts {
  readonly service: LeanService;
  readonly place: Endpoint;
  readonly transport: HttpTransport;
  readonly credentials: HeldCredentials;
  readonly serviceClock: ServiceClock;
  readonly retries: RetryBudget;
  readonly clock: Clock;
  readonly maxAttempts: number;
}

/** Refused because of the credentials: newer ones may be accepted. */
const EXPIRED = new Set([
  "ExpiredToken",
  "ExpiredTokenException",
  "InvalidClientTokenId",
  "UnrecognizedClientException",
]);

interface SentRequest {
  readonly operation: string;
  readonly input: object;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
}

/** @throws LeanClientError if the Region is unknown, or the endpoint isn't a URL */
export function openConnection(service: LeanService, options: ConnectionOptions): LeanConnection {
  const { credentials, maxAttempts, clock, random } = options;
  const place = placeOf(options, environment(), service);
  const state = { tokens: FULL_BUDGET, offsetMs: 0 };
  return new LeanConnection({
    service,
    place,
    transport: new HttpTransport(place.url, state, options),
    credentials: new HeldCredentials(credentials),
    serviceClock: new ServiceClock(clock, state),
    retries: new RetryBudget(random, state),
    clock,
    maxAttempts,
  });
}

export class LeanConnection {
  readonly #parts: LeanParts;

  constructor(parts: LeanParts) {
    this.#parts = parts;
  }

  /** Closes the kept-alive connections. */
  close(): void {
    this.#parts.transport.close();
  }

  /** Stops retrying once `signal` aborts. */
  async send(operation: string, input: object, signal?: AbortSignal): Promise<object> {
    const { service, credentials, serviceClock, retries, clock, maxAttempts } = this.#parts;
    const body = service.encode(operation, input);
    let cost: number | undefined;
    let wasRefused = false;
    for (let attempts = 1; ; attempts++) {
      const held = credentials.at(serviceClock.now());
      const used = held instanceof Promise ? await held : held;
      try {
        const output = await this.#try({ operation, input, body, signal }, used, attempts);
        retries.refund(cost);
        return output;
      } catch (error) {
        const failure = error as { name?: string; $metadata?: object };
        failure.$metadata = { ...failure.$metadata, attempts };
        if (attempts >= maxAttempts) throw error;
        if ((error as TransportError).isStale) continue;
        if (!wasRefused && EXPIRED.has(`${failure.name}`)) {
          wasRefused = true;
          credentials.refuse(used);
          continue;
        }
        const retry = retries.take(error, attempts);
        if (retry === undefined) throw error;
        cost = retry.cost;
        if (retry.delayMs > 0) await clock.sleep(retry.delayMs, signal);
        if (signal?.aborted) throw error;
      }
    }
  }

  async #try(
    { operation, input, body, signal }: SentRequest,
    credentials: Credentials,
    attempts: number,
  ): Promise<object> {
    const { service, place, transport, serviceClock, clock, maxAttempts } = this.#parts;
    const { region, url } = place;
    const { offsetMs } = serviceClock;
    const path = service.path ? url.pathname.replace(/\/$/, "") + service.path(input) : url.pathname;
    const sentAt = clock.now();
    const headers = signedHeaders(
      {
        host: url.host,
        path,
        region,
        target: service.target(operation),
        body,
        service: service.name,
        contentType: service.contentType,
      },
      credentials,
      sentAt + offsetMs,
    );
    const unsigned = {
      "amz-sdk-request": `attempt=${attempts}; max=${maxAttempts}`,
      "user-agent": "onceonly-lean",
    };
    const answer = await transport.post({ ...headers, ...unsigned }, body, signal, path);
    serviceClock.learn(answer, sentAt);
    try {
      return service.decode(answer, operation, input);
    } catch (error) {
      const failure = error as { $metadata: object };
      failure.$metadata = {
        ...failure.$metadata,
        ...(serviceClock.differsFrom(offsetMs) && { clockSkewCorrected: true }),
        retryAfterMs: retryAfterMs(answer, clock.now()),
      };
      throw error;
    }
  }
}
