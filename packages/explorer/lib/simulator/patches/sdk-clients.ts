/**
 * Clients of the AWS SDK with their default request handler send to the simulation when they are called in a
 * scene.
 */
import { Readable } from "node:stream";
import { currentScene, type Scene, type SdkHttpRequest, type SdkHttpResponse } from "../scene.ts";
import { type ClientConfig, keepStateByScene } from "./client-state.ts";
import { replace } from "./replace.ts";

interface SendOptions {
  readonly abortSignal?: unknown;
}

interface SdkRequestHandler {
  config?: HandlerConfig;
  configProvider?: Promise<HandlerConfig>;
  handle(request: SdkHttpRequest, options?: SendOptions): Promise<{ response: SdkHttpResponse }>;
}

interface HandlerConfig {
  readonly requestTimeout?: number | undefined;
  readonly throwOnRequestTimeout?: boolean | undefined;
}

interface Client {
  readonly config: ClientConfig & { readonly requestHandler: SdkRequestHandler };
  send(...parameters: unknown[]): unknown;
}

const PACKAGES = {
  "@aws-sdk/client-dynamodb": "DynamoDBClient",
  "@aws-sdk/client-dynamodb-streams": "DynamoDBStreamsClient",
  "@aws-sdk/client-sqs": "SQSClient",
  "@aws-sdk/client-sns": "SNSClient",
  "@aws-sdk/client-eventbridge": "EventBridgeClient",
  // Its requests go over HTTP/2, by another request handler.
  "@aws-sdk/client-kinesis": "KinesisClient",
} as const;

const classes = new Map<string, object>();

/** @throws Error if a mock replaced a client's `send`: the simulation wouldn't see its requests */
export function refuseMockedClients(): void {
  // The SDK's own method is in the base class of all clients.
  const mocked = [...classes].find(([, prototype]) => Object.hasOwn(prototype, "send"))?.[0];
  if (mocked === undefined) return;
  throw new Error(
    `${mocked}.prototype.send is a mock (from aws-sdk-client-mock, for example), so the simulation can't see its requests: call the mock's \`restore()\` first`,
  );
}

/** Only from installed packages. Several copies of the SDK's base may be there. */
export async function patchSdkClients(): Promise<void> {
  const patched = new Set<object>();
  const once = <T extends object>(prototype: T, patch: (prototype: T) => void): void => {
    if (!patched.has(prototype)) patch(prototype);
    patched.add(prototype);
  };
  for (const [name, className] of Object.entries(PACKAGES)) {
    const module = (await import(name).catch(() => undefined)) as
      | Record<string, new (options: object) => Client>
      | undefined;
    const ClientClass = module?.[className];
    if (ClientClass === undefined) continue;
    classes.set(className, ClientClass.prototype);
    const { requestHandler } = new ClientClass({ region: "us-east-1" }).config;
    once(Object.getPrototypeOf(requestHandler) as SdkRequestHandler, patchHandler);
    once(Object.getPrototypeOf(ClientClass.prototype) as Client, patchSend);
  }
}

function patchSend(prototype: Client): void {
  const real = prototype.send;
  replace(prototype, "send", function send(this: Client, ...parameters: unknown[]) {
    if (currentScene()) keepStateByScene(this.config);
    return real.apply(this, parameters);
  });
}

function patchHandler(prototype: SdkRequestHandler): void {
  const real = prototype.handle;
  const handle: SdkRequestHandler["handle"] = async function handle(
    this: SdkRequestHandler,
    request,
    options,
  ) {
    const scene = currentScene();
    if (scene === undefined) return real.call(this, request, options);
    const config = this.config ?? (await this.configProvider);
    const signal = options?.abortSignal as AbortSignal | undefined;
    const sent = { ...request, headers: withoutPseudoHeaders(request.headers) };
    const response = await inTime(scene, scene.send(sent, signal), config);
    return { response: response.isStreamed ? streamed(response) : response };
  };
  replace(prototype, "handle", handle);
}

/** HTTP/2 has the host as a header whose name begins with a colon. */
function withoutPseudoHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(":")));
}

function streamed(response: SdkHttpResponse): SdkHttpResponse {
  return { ...response, body: Readable.from([response.body]) as unknown as Uint8Array };
}

/** The timeout of a request. Without `throwOnRequestTimeout` the SDK only warns. */
function inTime<T>(scene: Scene, answer: Promise<T>, config: HandlerConfig | undefined): Promise<T> {
  const ms = config?.requestTimeout ?? 0;
  if (ms <= 0 || !config?.throwOnRequestTimeout) return answer;
  return new Promise((resolve, reject) => {
    const cancel = scene.after(ms, () => {
      reject(
        Object.assign(new Error(`a request has exceeded the configured ${ms} ms requestTimeout`), {
          name: "TimeoutError",
          code: "ETIMEDOUT",
        }),
      );
    });
    answer.finally(cancel).then(resolve, reject);
  });
}
