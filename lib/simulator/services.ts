/** Finds the service for a request: an AWS service, or another one of the simulation. */
import type { DynamoDBModel } from "../aws/dynamodb/dynamodb-model.ts";
import type { EventBridgeModel } from "../aws/eventbridge/eventbridge-model.ts";
import type { SnsModel } from "../aws/sns/sns-model.ts";
import type { SqsModel } from "../aws/sqs/sqs-model.ts";
import { type DynamoDBRequest, dynamodbExchange, dynamodbSdkExchange } from "./dynamodb-exchange.ts";
import { eventBridgeExchange } from "./eventbridge-exchange.ts";
import type { Exchange } from "./exchange.ts";
import { type HttpRequest, httpExchange, type Service } from "./http-exchange.ts";
import { type Scene, type SdkHttpRequest, type SdkHttpResponse, within } from "./scene.ts";
import { bodyBytes, headerOf, urlOf } from "./sdk-request.ts";
import { snsExchange } from "./sns-exchange.ts";
import { sqsExchange } from "./sqs-exchange.ts";
import type { StaleReads } from "./stale-reads.ts";

export interface ServicesOptions {
  readonly dynamodb: DynamoDBModel;
  readonly sqs: SqsModel;
  readonly sns: SnsModel;
  readonly eventBridge: EventBridgeModel;
  readonly staleReads: StaleReads;
  readonly now: () => number;
  /** The scene in which services run. */
  readonly outside: () => Scene;
}

const BY_TARGET = { dynamodb: /^DynamoDB(Streams)?_/, sqs: /^AmazonSQS\./, eventBridge: /^AWSEvents\./ };
/** SNS's protocol has no header for the operation. */
const SNS_HOST = /^sns\.[\w-]+\.amazonaws\.com/;

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
      throw new TypeError(`serve takes an origin such as "https://api.example.com", got "${origin}"`);
    }
    if (typeof service !== "function") {
      throw new TypeError(`serve takes a function that answers requests to ${origin}, got ${typeof service}`);
    }
    this.#served.set(url.origin, service);
  }

  async sdkExchange(request: SdkHttpRequest): Promise<Exchange<SdkHttpResponse>> {
    const target = headerOf(request, "x-amz-target") ?? "";
    const envelope = () => this.#envelope();
    if (BY_TARGET.dynamodb.test(target)) {
      return dynamodbSdkExchange(request, (each) => this.dynamodbExchange(each), envelope);
    }
    const { sqs, sns, eventBridge } = this.#options;
    if (BY_TARGET.sqs.test(target)) return sqsExchange(request, sqs, envelope);
    if (BY_TARGET.eventBridge.test(target)) return eventBridgeExchange(request, eventBridge, envelope);
    if (SNS_HOST.test(request.hostname)) return snsExchange(request, sns, envelope);
    return this.#servedToSdk(request);
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
    return this.#toServed({ method, headers, url: new URL(request.url), body: await bytesOf(request) });
  }

  async #servedToSdk(request: SdkHttpRequest): Promise<Exchange<SdkHttpResponse>> {
    const url = urlOf(request);
    if (!this.#served.has(url.origin)) {
      throw new Error(
        `the simulator has DynamoDB, SQS, SNS and EventBridge, not what is at ${url.hostname}: serve("${url.origin}", …) a stand-in, or give the code a client of its own`,
      );
    }
    const headers = new Headers(request.headers);
    const exchange = this.#toServed({ method: request.method, headers, url, body: bodyBytes(request) });
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
          `nothing is served at ${origin}: aws.serve("${origin}", (request) => new Response())`,
        ),
      });
    }
    return httpExchange(request, (each) =>
      within(this.#options.outside(), async () => {
        const response = await service(each);
        if (typeof Object(response).status === "number") return response;
        throw new TypeError(
          `what is served at ${origin} answers ${typeof response}: let it answer a Response`,
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

async function bytesOf(message: Request | Response): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await message.arrayBuffer());
}
