/** Replaces the SDK's serializer and deserializer for the usual request and response of a client. */
import { Readable } from "node:stream";
import { ConditionalCheckFailedException, type DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { copyWith, type Request } from "./own-signer.ts";
import { encodeInput, readObject } from "./wire/json.ts";
import { CONTENT_TYPE } from "./wire/signature.ts";
import { withoutStack } from "./wire/without-stack.ts";

const REFUSAL = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException";

/** DynamoDB's JSON protocol, as SDK versions with protocols name it. */
interface Protocol {
  getShapeId?(): string;
  getRequestType(): new (request: Partial<Request>) => Request;
}

interface Response {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Context {
  readonly commandName: string;
  readonly endpointV2?: { readonly url: URL; readonly headers?: object };
}

interface Args {
  readonly input: object;
  readonly request: Request;
}

type Handler = (args: Args) => Promise<{ readonly response: Response; readonly output: object }>;
type Middleware = (next: Handler, context: Context) => Handler;

interface Stack {
  add(middleware: Middleware, options: object): void;
  applyToStack(to: object): void;
}

/** SDK versions without protocols, or with a different one for DynamoDB, keep their own. */
export function replaceProtocol({ middlewareStack, config }: DynamoDBClient): void {
  const { protocol } = config as { readonly protocol?: Protocol };
  if (protocol?.getShapeId?.() !== "aws.protocols#awsJson1_0") return;
  const RequestType = protocol.getRequestType();
  const stack = middlewareStack as unknown as Stack;

  replaceMiddleware(stack, "serializerMiddleware", "serialize", (original) => (next, context) => {
    const originally = original(next, context);
    return (args) => {
      const place = placeOf(context);
      if (!place) return originally(args);
      const headers = {
        "content-type": CONTENT_TYPE,
        "x-amz-target": `DynamoDB_20120810.${context.commandName.replace(/Command$/, "")}`,
      };
      const body = encodeInput(args.input);
      return next({ ...args, request: new RequestType({ ...place, method: "POST", headers, body }) });
    };
  });

  replaceMiddleware(
    stack,
    "deserializerMiddleware",
    "deserialize",
    (original) => (next, context) => async (args) => {
      const answer = await next(args);
      const { response } = answer;
      // Other request handlers have other kinds of bodies.
      if (!(response.body instanceof Readable)) return original(async () => answer, context)(args);
      const body = await readBody(response.body).catch(failing);
      const output = body instanceof Uint8Array ? readOutput(response, body) : undefined;
      if (output) return { response, output };
      return original(async () => ({ ...answer, response: copyWith(response, { body }) }), context)(args);
    },
  );
}

function replaceMiddleware(
  stack: Stack,
  name: string,
  step: "serialize" | "deserialize",
  replacement: (original: Middleware) => Middleware,
): void {
  let original: Middleware | undefined;
  const add = (middleware: Middleware, options: { readonly name?: string }): void => {
    if (options.name === name) original = middleware;
  };
  stack.applyToStack({ add, addRelativeTo: add });
  if (original) stack.add(replacement(original), { name, step, override: true });
}

/** @returns `undefined` for an endpoint that consists of more than an address */
function placeOf({ endpointV2 }: Context): Partial<Request> | undefined {
  if (!endpointV2) return undefined;
  const { url, headers = {} } = endpointV2;
  const more = `${url.search}${url.hash}${url.username}${url.password}`;
  if (more !== "" || Object.keys(headers).length > 0) return undefined;
  const { protocol, hostname, port, pathname } = url;
  const path = pathname.endsWith("/") ? pathname : `${pathname}/`;
  return { protocol, hostname, port: port ? Number(port) : undefined, path };
}

/**
 * The output of a success, or the refusal that each replay meets. The SDK reads everything else.
 * @throws ConditionalCheckFailedException
 */
function readOutput(response: Response, body: Uint8Array): object | undefined {
  const { statusCode, headers } = response;
  if (statusCode !== 200 && statusCode !== 400) return undefined;
  const output: Output | undefined = readObject(body);
  if (!output) return undefined;
  const $metadata = {
    httpStatusCode: statusCode,
    requestId: headers["x-amzn-requestid"] ?? headers["x-amzn-request-id"] ?? headers["x-amz-request-id"],
    extendedRequestId: headers["x-amz-id-2"],
    cfId: headers["x-amz-cf-id"],
  } as { readonly httpStatusCode: number; readonly requestId: string };
  if (statusCode === 200) return { ...output, $metadata };
  const { __type, message = "", Item } = output;
  if (__type !== REFUSAL || message === "" || headers["x-amzn-errortype"] !== undefined) return undefined;
  const make = () => new ConditionalCheckFailedException({ $metadata } as never);
  const refusal = Item ? withoutStack(make) : make();
  Object.defineProperty(refusal, "$response", { value: response, enumerable: false });
  // Assigned as the SDK does it: its messages are enumerable.
  throw Object.assign(refusal, { message, ...(Item && { Item }), __type });
}

interface Output {
  readonly __type?: string;
  readonly message?: string;
  readonly Item?: Record<string, never>;
}

function failing(error: unknown): Readable {
  return new Readable({
    read() {
      this.destroy(error as Error);
    },
  });
}

/** @throws the stream's error; a response can be cut anywhere */
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
      if (!isOver) reject(Object.assign(new Error("the response was cut off"), { code: "ECONNRESET" }));
    });
  });
}
