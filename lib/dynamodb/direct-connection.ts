/**
 * When a request goes past the SDK's middleware, and why that's safe. Only the client that the store makes itself is
 * served directly: no other code can reach it, and all of its settings come from the environment. It must also be built
 * exactly like a client of an SDK that we have compared request by request (`known-sdk.ts`): the code of `send`, of each
 * middleware, provider and command is the same to the letter, and no tracer or mock has replaced a function since. Then
 * four of the SDK's ten middlewares are replaced: the ones that encode, locate, sign and read, by the functions below.
 * Retries, the trace header and the user agent stay the SDK's own, and every provider is asked for each request.
 * Anything else goes through `client.send`, and `NODE_DEBUG=onceonly` prints why.
 */
import type { Readable } from "node:stream";
import { debuglog } from "node:util";
import { type DynamoDBClient, DynamoDBServiceException } from "@aws-sdk/client-dynamodb";
import { systemClock } from "../core/clock.ts";
import type { Connection, DynamoDBAnswer, DynamoDBInputs, OperationName } from "./connection.ts";
import { type Examinable, type ExaminedSdk, examineSdk, KNOWN_SDKS } from "./known-sdk.ts";
import { encodeInput, readAnswer, ServiceError } from "./wire/json.ts";
import { type Credentials, signedHeaders } from "./wire/signature.ts";

const debug = debuglog("onceonly");

export function logWhy(reason: string): void {
  debug("DynamoDB requests go through client.send: %s", reason);
}

export type Commands = { readonly [Name in OperationName]: new (input: DynamoDBInputs[Name]) => object };

type Config = DynamoDBClient["config"];

interface HttpRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: number | undefined;
  readonly path: string;
  readonly method: "POST";
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface Args {
  readonly input: object;
  readonly request: HttpRequest;
}

type Handler = (args: Args) => Promise<{ readonly response: unknown; readonly output: object }>;

type Middleware = (next: Handler, context: object) => Handler;

/** From the innermost to the outermost. */
const KEPT = ["retryMiddleware", "recursionDetectionMiddleware", "getUserAgentMiddleware"] as const;

/** Says which fields of an input take part in the choice of the endpoint. */
interface EndpointInstruction {
  readonly type: string;
  readonly name: string;
  get?(input: object): unknown;
}

interface CommandClass {
  getEndpointParameterInstructions(): Readonly<Record<string, EndpointInstruction>>;
}

/** What the SDK's signer calls with a response, to learn how wrong this machine's clock is. */
interface ClockSigner {
  successHandler(response: unknown, properties: object): void;
  errorHandler(properties: object): (error: unknown) => never;
}

interface Place {
  readonly url: URL;
  readonly signingRegion: string;
  readonly endpoint: object;
}

export class DirectConnection implements Connection {
  readonly #config: Config;
  readonly #commands: Commands;
  readonly #kept: readonly Middleware[];
  readonly #sdk: ExaminedSdk;
  readonly #isKnown: boolean;
  readonly #through: Connection;
  #wasChanged = false;

  /** @param throughSend connects to the same client, with its middleware */
  constructor(
    client: DynamoDBClient,
    commands: Commands,
    throughSend: (client: DynamoDBClient) => Connection,
  ) {
    this.#config = client.config;
    this.#commands = commands;
    this.#sdk = examineSdk(client as unknown as Examinable, Object.values(commands));
    this.#isKnown = Object.values(KNOWN_SDKS).includes(this.#sdk.digest);
    if (!this.#isKnown) logWhy(`no compared version of the SDK has the code ${this.#sdk.digest}`);
    this.#kept = keptMiddleware(client);
    // Adds middleware of ours: the client has been examined before.
    this.#through = throughSend(client);
  }

  async send<Name extends OperationName>(
    operation: Name,
    input: DynamoDBInputs[Name],
  ): Promise<DynamoDBAnswer<Name>> {
    if (!this.#isAsKnown()) return this.#through.send(operation, input);
    const config = this.#config;
    const Region = await config.region();
    const credentials = await config.credentials();
    const place = await this.#locate(operation, input, Region, credentials.accountId);
    if (place === undefined) {
      logWhy("the endpoint asks for headers or for another kind of signature");
      return this.#through.send(operation, input);
    }
    const body = encodeInput(input);
    const { url, signingRegion } = place;
    const path = url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`;
    const request: HttpRequest = {
      protocol: url.protocol,
      hostname: url.hostname,
      port: url.port ? Number(url.port) : undefined,
      path,
      method: "POST",
      query: {},
      headers: { "content-length": `${Buffer.byteLength(body)}` },
      body,
    };
    const unsigned = {
      host: url.host,
      path,
      region: signingRegion,
      target: `DynamoDB_20120810.${operation}`,
      body,
    };
    const context = {
      logger: config.logger,
      clientName: "DynamoDBClient",
      commandName: `${operation}Command`,
      endpointV2: place.endpoint,
      __smithy_context: { selectedHttpAuthScheme: { identity: credentials } },
    };
    let handler: Handler = (args) => this.#try(args.request, unsigned, credentials);
    for (const middleware of this.#kept) handler = middleware(handler, context);
    return (await handler({ input, request })).output as DynamoDBAnswer<Name>;
  }

  #isAsKnown(): boolean {
    if (!this.#isKnown) return false;
    const isUnchanged = this.#sdk.isUnchanged();
    if (!isUnchanged && !this.#wasChanged) logWhy("a function of the SDK has been replaced");
    this.#wasChanged = !isUnchanged;
    return isUnchanged;
  }

  /**
   * @returns `undefined` for an endpoint that asks for more than an address
   * @throws what the SDK throws, such as for a missing Region
   */
  async #locate(
    operation: OperationName,
    input: object,
    Region: string,
    AccountId: string | undefined,
  ): Promise<Place | undefined> {
    const config = this.#config;
    const parameters: Record<string, unknown> = {
      Region,
      AccountId,
      UseFIPS: await config.useFipsEndpoint(),
      UseDualStack: await config.useDualstackEndpoint(),
      AccountIdEndpointMode: await config.accountIdEndpointMode(),
      Endpoint: await config.serviceConfiguredEndpoint!(),
    };
    const instructions = (
      this.#commands[operation] as unknown as CommandClass
    ).getEndpointParameterInstructions();
    for (const [name, { type, name: field, get }] of Object.entries(instructions)) {
      if (type === "contextParams") parameters[name] = (input as Record<string, unknown>)[field];
      if (type === "operationContextParams") parameters[name] = get!(input);
    }
    const endpoint = config.endpointProvider(parameters as never);
    const { url, headers, properties } = endpoint;
    const {
      name = "sigv4",
      signingName = "dynamodb",
      signingRegion = Region,
    } = properties?.authSchemes?.[0] ?? {};
    const isPlain =
      Object.keys(headers ?? {}).length === 0 &&
      `${name} ${signingName}` === "sigv4 dynamodb" &&
      `${url.search}${url.hash}${url.username}${url.password}` === "";
    return isPlain ? { url, signingRegion, endpoint } : undefined;
  }

  async #try(
    request: HttpRequest,
    unsigned: Parameters<typeof signedHeaders>[0],
    credentials: Credentials,
  ): Promise<{ readonly response: unknown; readonly output: object }> {
    const config = this.#config;
    const signer = config.httpAuthSchemes[0]!.signer as unknown as ClockSigner;
    const sentAt = systemClock.now();
    const properties = {
      config,
      _requestSentAt: sentAt,
      _preRequestSystemClockOffset: config.systemClockOffset,
      _disableClockSkewCorrection: (await config.disableClockSkewCorrection?.()) === true,
    };
    const offsetMs = properties._disableClockSkewCorrection ? 0 : config.systemClockOffset;
    const { headers } = request;
    // Repeats the user agent for browsers. It would have to be signed.
    delete headers["x-amz-user-agent"];
    Object.assign(headers, signedHeaders(unsigned, credentials, sentAt + offsetMs));
    try {
      const { response } = await config.requestHandler.handle(request as never, {});
      const output = await readOutput(response);
      signer.successHandler(response, properties);
      return { response, output };
    } catch (error) {
      return signer.errorHandler(properties)(error);
    }
  }
}

function keptMiddleware({ middlewareStack }: DynamoDBClient): readonly Middleware[] {
  const found = new Map<string | undefined, Middleware>();
  const add = (middleware: Middleware, { name }: { readonly name?: string }) => found.set(name, middleware);
  middlewareStack.applyToStack({ add, addRelativeTo: add } as never);
  return KEPT.flatMap((name) => found.get(name) ?? []);
}

interface HttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Readable;
}

/** @throws as the SDK does */
async function readOutput(response: HttpResponse): Promise<object> {
  const { statusCode, headers, body } = response;
  try {
    return {
      ...readAnswer({ statusCode, headers, body: await readBody(body!) }),
      $metadata: { httpStatusCode: statusCode },
    };
  } catch (error) {
    // The SDK's retries read `Retry-After` from it.
    throw Object.defineProperty(asSdkError(error), "$response", { value: response, enumerable: false });
  }
}

function asSdkError(error: unknown): object {
  if (!(error instanceof ServiceError)) return error as Error;
  const { name, message, $fault, $metadata, ...more } = error as ServiceError & Record<string, unknown>;
  const exception = new DynamoDBServiceException({ name, message, $fault, $metadata });
  // Its class in the SDK says so, but exists in the newer versions only.
  if (name === "ReplicatedWriteConflictException") exception.$retryable = {};
  return Object.assign(exception, more);
}

/** @throws what the stream fails with; a response can be cut anywhere */
function readBody(stream: Readable): Promise<Uint8Array> {
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
