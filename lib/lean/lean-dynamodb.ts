import { type Clock, type Random, systemClock, systemRandom } from "../core/clock.ts";
import { aFunction, type Check, checkOptions, methods } from "../core/option-checks.ts";
import type { Connection, DynamoDBAnswer, DynamoDBInputs, OperationName } from "../dynamodb/connection.ts";
import type { ExpiringCredentials } from "./container-credentials.ts";
import { type CredentialSource, foundCredentials } from "./credentials.ts";
import { environment } from "./environment.ts";
import { type LeanConnection, openConnection } from "./lean-connection.ts";
import { configuredAttempts } from "./profile.ts";
import { DYNAMODB } from "./service.ts";

export interface LeanDynamoDBOptions {
  /** @default - `AWS_REGION` */
  readonly region?: string;
  /**
   * An http or https URL.
   * @default - `AWS_ENDPOINT_URL_DYNAMODB`, `AWS_ENDPOINT_URL`, or the Region's endpoint
   */
  readonly endpoint?: string;
  /**
   * Credentials, or a function that returns some. It is called once for all waiting requests, again before the credentials
   * expire, and after the service has refused them.
   * @default - found in the SDK's order: `AWS_PROFILE`, the environment's keys, the default profile, a web identity, a
   * container's endpoint. Profiles and web identities need `@aws-sdk/credential-provider-node` to be installed
   */
  readonly credentials?: ExpiringCredentials | CredentialSource;
  /**
   * How often one request is tried, including the first try.
   * @default - `AWS_MAX_ATTEMPTS`, or 4
   */
  readonly maxAttempts?: number;
  /** @default 1000 */
  readonly connectionTimeoutMs?: number;
  /**
   * For each try, from sending the request to the end of the answer.
   * @default 3000
   */
  readonly requestTimeoutMs?: number;
  /**
   * Maximum number of concurrent connections. Further requests wait for one.
   * @default 50
   */
  readonly maxSockets?: number;
  /** @default - the system's time */
  readonly clock?: Clock;
  /** @default - the system's randomness */
  readonly random?: Random;
}

const MAX_ATTEMPTS = 4;

const aText: Check = ["must be a string", (value) => typeof value === "string" && value !== ""];

const wholeNumber = (max: number): Check => [
  `must be a whole number between 1 and ${max}`,
  (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= max,
];

const CHECKS: Readonly<Record<keyof LeanDynamoDBOptions, Check>> = {
  region: aText,
  endpoint: aText,
  credentials: [
    "must be { accessKeyId, secretAccessKey, sessionToken }, or a function that returns them",
    (value) => {
      const { accessKeyId, secretAccessKey } = Object(value) as Partial<ExpiringCredentials>;
      return aFunction[1](value) || (aText[1](accessKeyId) && aText[1](secretAccessKey));
    },
  ],
  maxAttempts: wholeNumber(10),
  connectionTimeoutMs: wholeNumber(60_000),
  requestTimeoutMs: wholeNumber(60_000),
  maxSockets: wholeNumber(1000),
  clock: methods("now", "sleep"),
  random: methods("token", "fraction"),
};

/**
 * A DynamoDB client for functions that need no other AWS client: it speaks DynamoDB's protocol itself, in a tenth of the SDK's
 * bytes. Like the SDK's client, it keeps connections alive and retries temporary failures.
 *
 * One client can serve many stores. It reads the environment when it first sends a request.
 */
export class LeanDynamoDB implements Connection {
  /** Distinguishes it from SDK clients, even if this package is loaded twice. */
  readonly isLean = true;
  readonly #options: LeanDynamoDBOptions;
  #connection: LeanConnection | undefined;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: LeanDynamoDBOptions = {}) {
    checkOptions(options, CHECKS, []);
    this.#options = options;
  }

  async send<Name extends OperationName>(
    operation: Name,
    input: DynamoDBInputs[Name],
  ): Promise<DynamoDBAnswer<Name>> {
    this.#connection ??= this.#connect();
    return this.#connection.send(operation, input) as Promise<DynamoDBAnswer<Name>>;
  }

  /** Closes the kept-alive connections. The next request opens new ones. */
  destroy(): void {
    this.#connection?.close();
  }

  #connect(): LeanConnection {
    const {
      connectionTimeoutMs = 1000,
      requestTimeoutMs = 3000,
      maxSockets = 50,
      clock = systemClock,
      random = systemRandom,
      credentials,
      maxAttempts,
      ...place
    } = this.#options;
    return openConnection(DYNAMODB, {
      ...place,
      connectionTimeoutMs,
      requestTimeoutMs,
      maxSockets,
      maxAttempts: maxAttempts ?? configuredAttempts(environment()) ?? MAX_ATTEMPTS,
      credentials: sourceOf(credentials),
      clock,
      random,
    });
  }
}

function sourceOf(given: LeanDynamoDBOptions["credentials"]): CredentialSource {
  if (given === undefined) return () => foundCredentials();
  return typeof given === "function" ? given : () => given;
}
