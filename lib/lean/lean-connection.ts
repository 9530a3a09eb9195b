/** Carries requests to DynamoDB, signed, in time, and again where they failed by what passes. */
import type { Clock } from "../core/clock.ts";
import type { Answer, Connection, Inputs, OperationName } from "../dynamodb/connection.ts";
import { encodeInput, readAnswer } from "../dynamodb/wire/json.ts";
import { type Credentials, signedHeaders } from "../dynamodb/wire/signature.ts";
import type { HeldCredentials } from "./credentials.ts";
import type { Endpoint } from "./endpoint.ts";
import type { HttpTransport, TransportError } from "./http-transport.ts";
import type { RetryBudget } from "./retry-budget.ts";
import type { ServiceClock } from "./service-clock.ts";

export interface LeanParts {
  readonly place: Endpoint;
  readonly transport: HttpTransport;
  readonly credentials: HeldCredentials;
  readonly serviceClock: ServiceClock;
  readonly retries: RetryBudget;
  readonly clock: Clock;
  readonly maxAttempts: number;
}

/** Refused for who asked; whoever asks with newer credentials may be let in. */
const EXPIRED = new Set(["ExpiredToken", "ExpiredTokenException", "UnrecognizedClientException"]);

export class LeanConnection implements Connection {
  readonly #parts: LeanParts;

  constructor(parts: LeanParts) {
    this.#parts = parts;
  }

  async send<Name extends OperationName>(operation: Name, input: Inputs[Name]): Promise<Answer<Name>> {
    const { credentials, serviceClock, retries, clock, maxAttempts } = this.#parts;
    const body = encodeInput(input);
    let cost: number | undefined;
    let wasRefused = false;
    for (let attempts = 1; ; attempts++) {
      const held = credentials.at(serviceClock.now());
      const used = held instanceof Promise ? await held : held;
      try {
        const answer = await this.#try(operation, body, used, attempts);
        retries.giveBack(cost);
        return answer as Answer<Name>;
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
        if (retry.delayMs > 0) await clock.sleep(retry.delayMs);
      }
    }
  }

  async #try(operation: string, body: string, credentials: Credentials, attempts: number): Promise<object> {
    const { place, transport, serviceClock, clock, maxAttempts } = this.#parts;
    const { region, url } = place;
    const { offsetMs } = serviceClock;
    const sentAt = clock.now();
    const headers = signedHeaders(
      { host: url.host, path: url.pathname, region, target: `DynamoDB_20120810.${operation}`, body },
      credentials,
      sentAt + offsetMs,
    );
    const told = {
      "amz-sdk-request": `attempt=${attempts}; max=${maxAttempts}`,
      "user-agent": "onceonly-lean",
    };
    const answer = await transport.post({ ...headers, ...told }, body);
    serviceClock.learn(answer, sentAt);
    try {
      return readAnswer(answer);
    } catch (error) {
      const failure = error as { $metadata: object };
      if (serviceClock.differsFrom(offsetMs)) {
        failure.$metadata = { ...failure.$metadata, clockSkewCorrected: true };
      }
      throw error;
    }
  }
}
