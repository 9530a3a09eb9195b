/** Of a client of the SDK, version 3: what requests read of it that go past its middleware. Types only. */
import type { FailureKind } from "./wire/failure-kind.ts";
import type { Credentials } from "./wire/signature.ts";

export interface SdkClient {
  readonly config: SdkConfig;
  readonly middlewareStack: SdkStack;
  send(...parameters: never[]): unknown;
}

interface SdkStack {
  /** Hands every entry to the other stack. */
  applyToStack(stack: StackReader): void;
}

export interface StackEntry {
  readonly name?: string;
  readonly tags?: readonly string[];
}

interface StackReader {
  add(middleware: unknown, entry: StackEntry): void;
  addRelativeTo(middleware: unknown, entry: StackEntry): void;
}

type Pair = readonly [name: string, version?: string];

export interface SdkConfig {
  credentials(): Promise<SdkCredentials>;
  region(): Promise<string>;
  /** Only where it is the caller's own. */
  endpoint?(): Promise<SdkEndpoint>;
  readonly isCustomEndpoint?: boolean;
  readonly ignoreConfiguredEndpointUrls?: boolean;
  serviceConfiguredEndpoint(): Promise<string | undefined>;
  endpointProvider(parameters: object, context?: object): ResolvedEndpoint;
  useFipsEndpoint(): Promise<boolean>;
  useDualstackEndpoint(): Promise<boolean>;
  accountIdEndpointMode?(): Promise<string>;
  readonly httpAuthSchemes: readonly { readonly schemeId: string; readonly signer: object }[];
  readonly requestHandler: RequestHandler;
  /** Strategies of the first version send requests themselves. */
  retryStrategy(): Promise<RetryStrategy | { readonly mode?: string }>;
  maxAttempts(): Promise<number>;
  systemClockOffset: number;
  disableClockSkewCorrection?(): Promise<boolean>;
  defaultUserAgentProvider(): Promise<readonly Pair[]>;
  userAgentAppId?(): Promise<string | undefined>;
  readonly customUserAgent?: readonly Pair[];
}

export interface SdkCredentials extends Credentials {
  readonly accountId?: string;
}

/** As old clients and new ones have it. */
type SdkEndpoint =
  | { readonly url: URL; readonly headers?: object | undefined }
  | {
      readonly protocol: string;
      readonly hostname: string;
      readonly port?: number | undefined;
      readonly path: string;
      readonly headers?: object | undefined;
    };

interface ResolvedEndpoint {
  readonly url: URL;
  readonly headers?: object;
  readonly properties?: {
    readonly authSchemes?: readonly {
      readonly name: string;
      readonly signingRegion?: string;
      readonly signingName?: string;
    }[];
  };
}

export interface SdkRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: number | undefined;
  readonly path: string;
  readonly method: "POST";
  readonly query: Readonly<Record<string, never>>;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface SdkResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface RequestHandler {
  readonly metadata?: { readonly handlerProtocol?: string };
  handle(request: SdkRequest, options?: object): Promise<{ readonly response: SdkResponse }>;
}

interface RetryToken {
  getRetryCount(): number;
  getRetryDelay(): number;
}

export interface RetryStrategy {
  acquireInitialRetryToken(scope: string): Promise<RetryToken>;
  /** Rejects where there shall be no other try. */
  refreshRetryTokenForRetry(
    token: RetryToken,
    failure: {
      readonly error: unknown;
      readonly errorType: FailureKind;
      readonly retryAfterHint?: Date | undefined;
    },
  ): Promise<RetryToken>;
  recordSuccess(token: RetryToken): void;
}
