/** Finds the service for a request: an AWS service, or another one of the simulation. */
import { awsServiceOf, operationOf } from "../aws/aws-operation.ts";
import type { DynamoDBModel } from "../aws/dynamodb/dynamodb-model.ts";
import type { EventBridgeModel } from "../aws/eventbridge/eventbridge-model.ts";
import type { AwsHttpService } from "../aws/http-services/http-service.ts";
import type { SnsModel } from "../aws/sns/sns-model.ts";
import type { SqsModel } from "../aws/sqs/sqs-model.ts";
import { awsHttpExchange } from "./aws-http-exchange.ts";
import { type DynamoDBRequest, dynamodbExchange, dynamodbSdkExchange } from "./dynamodb-exchange.ts";
import { eventBridgeExchange } from "./eventbridge-exchange.ts";
import type { Exchange } from "./exchange.ts";
import { type HttpRequest, httpExchange, type Service } from "./http-exchange.ts";
import { type Scene, type SdkHttpRequest, type SdkHttpResponse, within } from "./scene.ts";
import { bodyBytes, headerOf, urlOf, withBytes } from "./sdk-request.ts";
import { snsExchange } from "./sns-exchange.ts";
import { sqsExchange } from "./sqs-exchange.ts";
import type { StaleReads } from "./stale-reads.ts";

/** By the names under which their requests are signed. */
export type SmallServices = Readonly<
  Record<"ssm" | "secretsmanager" | "s3" | "ses" | "lambda", AwsHttpService>
>;

export interface ServicesOptions {
  readonly dynamodb: DynamoDBModel;
  readonly sqs: SqsModel;
  readonly sns: SnsModel;
  readonly eventBridge: EventBridgeModel;
  readonly small: SmallServices;
  readonly staleReads: StaleReads;
  readonly now: () => number;
  /** The scene in which services run. */
  readonly outside: () => Scene;
}

const BY_TARGET = { dynamodb: /^DynamoDB(Streams)?_/, sqs: /^AmazonSQS\./, eventBridge: /^AWSEvents\./ };
const SIMULATED =
  "DynamoDB, SQS, SNS, EventBridge, SSM, Secrets Manager, S3, SES and Lambda's durable executions";

export class Services {
  readonly #options: ServicesOptions;
  readonly #served = new Map<string, Service>();
  #requests = 0;

  constructor(options: ServicesOptions) {
    this.#options = options;
  }

  serve(origin: string, service: Service): void {
    const url = URL.canParse(origin) ? new URL(origin) : undefined;
    if (url?.href !== `${url?.origin}/`) {
      throw new TypeError(`serve needs an origin such as "https://api.example.com" (got "${origin}")`);
    }
    if (typeof service !== "function") {
      throw new TypeError(
        `serve needs a function that responds to requests to ${origin} (got ${typeof service})`,
      );
    }
    this.#served.set(url.origin, service);
  }

  async sdkExchange(given: SdkHttpRequest): Promise<Exchange<SdkHttpResponse>> {
    const request = await withBytes(given);
    return this.#awsExchange(request) ?? this.#servedToSdk(request);
  }

  /** `undefined` for services and operations that are not simulated, and for origins with a stand-in. */
  #awsExchange(request: SdkHttpRequest): Exchange<SdkHttpResponse> | undefined {
    const target = headerOf(request, "x-amz-target") ?? "";
    const envelope = () => this.#envelope();
    if (BY_TARGET.dynamodb.test(target)) {
      return dynamodbSdkExchange(request, (each) => this.dynamodbExchange(each), envelope);
    }
    const { sqs, sns, eventBridge } = this.#options;
    if (BY_TARGET.sqs.test(target)) return sqsExchange(request, sqs, envelope);
    if (BY_TARGET.eventBridge.test(target)) return eventBridgeExchange(request, eventBridge, envelope);
    const url = urlOf(request);
    if (this.#served.has(url.origin)) return undefined;
    const asked = {
      method: request.method,
      url,
      headers: new Headers(request.headers),
      body: bodyBytes(request),
    };
    const name = awsServiceOf(asked);
    // SNS's protocol has no header for the operation.
    if (name === "sns") return snsExchange(request, sns, envelope);
    if (name === undefined || !Object.hasOwn(this.#options.small, name)) return undefined;
    const service = this.#options.small[name as keyof SmallServices];
    const call = service.read(asked);
    return call && awsHttpExchange(name as keyof SmallServices, service, call, request, envelope);
  }

  /** @param run executes the request; by default the model does */
  dynamodbExchange(
    request: Pick<DynamoDBRequest, "operation" | "input" | "attempt">,
    run: () => Promise<unknown> = () =>
      this.#options.dynamodb.call(request.operation as "GetItem", request.input as never),
  ): Exchange<unknown> {
    const { staleReads } = this.#options;
    return dynamodbExchange({ ...request, run, runStale: () => staleReads.during(run) });
  }

  async httpExchange(request: Request): Promise<Exchange<Response>> {
    const { method, headers } = request;
    const url = new URL(request.url);
    const body = await bytesOf(request);
    const path = url.pathname + url.search;
    const { protocol, hostname } = url;
    const port = url.port === "" ? undefined : Number(url.port);
    const sent = { protocol, hostname, port, path, method, headers: Object.fromEntries(headers), body };
    const exchange = this.#awsExchange(sent);
    return exchange === undefined ? this.#toServed({ method, headers, url, body }) : asFetched(exchange);
  }

  #servedToSdk(request: SdkHttpRequest): Exchange<SdkHttpResponse> {
    const url = urlOf(request);
    const headers = new Headers(request.headers);
    const asked = { method: request.method, headers, url, body: bodyBytes(request) };
    if (!this.#served.has(url.origin)) {
      throw new Error(
        `the simulator has ${SIMULATED}, but nothing for ${url.hostname} (${operationOf(asked)}): pass a stand-in to explore, \`${optionFor(url.origin)}\`, or call aws.serve("${url.origin}", …)`,
      );
    }
    const exchange = this.#toServed(asked);
    const asSdk = async (response: Promise<Response>): Promise<SdkHttpResponse> => {
      const answer = await response;
      return {
        statusCode: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: await bytesOf(answer),
      };
    };
    return {
      io: exchange.io,
      broken: exchange.broken,
      run: () => asSdk(exchange.run()),
      throttled: () => asSdk(exchange.throttled()),
      refused: (refusal) => asSdk(exchange.refused(refusal)),
      describe: ({ statusCode }) => String(statusCode),
    };
  }

  #toServed(request: HttpRequest): Exchange<Response> {
    const { origin } = request.url;
    const service = this.#served.get(origin);
    if (service === undefined) {
      throw new TypeError("fetch failed", {
        cause: new Error(
          `nothing is served at ${origin}: pass \`${optionFor(origin)}\` to explore, or call aws.serve("${origin}", (request) => new Response())`,
        ),
      });
    }
    return httpExchange(request, (each) =>
      within(this.#options.outside(), async () => {
        const response = await service(each);
        if (typeof Object(response).status === "number") return response;
        throw new TypeError(
          `the service at ${origin} returned a value of type ${typeof response}: return a Response`,
        );
      }),
    );
  }

  #envelope() {
    return {
      date: new Date(this.#options.now()).toUTCString(),
      "x-amzn-requestid": `request-${++this.#requests}`,
    };
  }
}

function optionFor(origin: string): string {
  return `outside: { "${origin}": (request) => new Response() }`;
}

/** The answers of a service of AWS as those of `fetch`. */
function asFetched(exchange: Exchange<SdkHttpResponse>): Exchange<Response> {
  const texts = new WeakMap<Response, string>();
  const asResponse = async (answer: Promise<SdkHttpResponse>) => {
    const sdkResponse = await answer;
    const { statusCode: status, headers, body } = sdkResponse;
    const response = new Response(status === 204 ? null : new Uint8Array(body), { status, headers });
    texts.set(response, exchange.describe(sdkResponse));
    return response;
  };
  return {
    io: exchange.io,
    run: () => asResponse(exchange.run()),
    broken: () => new TypeError("fetch failed", { cause: exchange.broken() }),
    throttled: () => asResponse(exchange.throttled()),
    refused: (refusal) => asResponse(exchange.refused(refusal)),
    describe: (response) => texts.get(response) ?? String(response.status),
  };
}

async function bytesOf(message: Request | Response): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await message.arrayBuffer());
}
