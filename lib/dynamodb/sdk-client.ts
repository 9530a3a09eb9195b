/** A client of the SDK, version 3: its settings, where it sends requests, and whether it is as the SDK makes it. */
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { PASSABLE, type PassableSend } from "../core/messages/passable-send.ts";

export interface SdkClient extends Pick<DynamoDBClient, "middlewareStack" | "send"> {
  readonly config: SdkConfig;
}

/** Clients of older versions lack some of the settings, and the SDK's types lack one that a signer may have. */
export type SdkConfig = DynamoDBClient["config"] & { readonly signerConstructor?: unknown };

export type SdkCredentials = Awaited<ReturnType<SdkConfig["credentials"]>>;

/** Strategies of the first version send requests themselves. */
export type RetryStrategy = Extract<
  Awaited<ReturnType<SdkConfig["retryStrategy"]>>,
  { readonly acquireInitialRetryToken: unknown }
>;

interface StackEntry {
  readonly name?: string;
  readonly tags?: readonly string[];
}

export interface Place {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: number | undefined;
  readonly path: string;
  /** As the header says it. */
  readonly host: string;
  readonly signingRegion: string;
}

/** What names tables in the requests that there are. */
interface Input {
  readonly TableName?: string | undefined;
  readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName?: string }>>[] | undefined;
  readonly RequestItems?: object | undefined;
}

/** Accounts and tables are few. More places would be no cache. */
const MAX_KNOWN = 100;

export class SdkPlaces {
  readonly #config: SdkConfig;
  readonly #known = new Map<string, Place | undefined>();
  #region: unknown;
  #endpoint: unknown;

  constructor(config: SdkConfig) {
    this.#config = config;
  }

  /**
   * @returns `undefined` for an endpoint that asks for more than an address, such as headers of its own
   * @throws what the SDK throws, such as for a Region that is missing
   */
  at({ accountId }: SdkCredentials, input: object): Place | undefined | Promise<Place | undefined> {
    const { region, endpoint } = this.#config;
    if (region !== this.#region || endpoint !== this.#endpoint || this.#known.size > MAX_KNOWN) {
      this.#known.clear();
      [this.#region, this.#endpoint] = [region, endpoint];
    }
    const arns = arnsIn(input);
    const key = `${accountId} ${arns}`;
    return this.#known.has(key) ? this.#known.get(key) : this.#find(key, accountId, arns);
  }

  async #find(key: string, AccountId: string | undefined, arns: string[]): Promise<Place | undefined> {
    const config = this.#config;
    const Region = await config.region();
    const [Endpoint, hasHeaders] = await configuredEndpoint(config);
    const { url, headers, properties } = config.endpointProvider({
      Region,
      AccountId,
      UseFIPS: await config.useFipsEndpoint(),
      UseDualStack: await config.useDualstackEndpoint(),
      AccountIdEndpointMode: await config.accountIdEndpointMode?.(),
      Endpoint,
      // Endpoints of accounts follow from the ARN of a table, where it has one.
      ...(arns.length === 1 ? { ResourceArn: arns[0] } : arns.length > 1 && { ResourceArnList: arns }),
    });
    const {
      name = "sigv4",
      signingName = "dynamodb",
      signingRegion = Region,
    } = properties?.authSchemes?.[0] ?? {};
    const isPlain =
      !hasHeaders &&
      Object.keys(headers ?? {}).length === 0 &&
      `${name} ${signingName}` === "sigv4 dynamodb" &&
      `${url.search}${url.hash}${url.username}${url.password}` === "";
    const place = isPlain ? placeAt(url, signingRegion) : undefined;
    this.#known.set(key, place);
    return place;
  }
}

function placeAt({ protocol, hostname, port, host, pathname }: URL, signingRegion: string): Place {
  const path = pathname.endsWith("/") ? pathname : `${pathname}/`;
  return { protocol, hostname, port: port ? Number(port) : undefined, path, host, signingRegion };
}

/** The caller's own, or one that the environment or a profile names; and whether it has headers. */
async function configuredEndpoint(config: SdkConfig): Promise<readonly [string | undefined, boolean?]> {
  if (!config.isCustomEndpoint) {
    return [config.ignoreConfiguredEndpointUrls ? undefined : await config.serviceConfiguredEndpoint!()];
  }
  const endpoint = await config.endpoint!();
  const hasHeaders = Object.keys(endpoint.headers ?? {}).length > 0;
  if ("url" in endpoint) return [(endpoint.url as URL).href, hasHeaders];
  const { protocol, hostname, port, path } = endpoint;
  return [`${protocol}//${hostname}${port ? `:${port}` : ""}${path}`, hasHeaders];
}

/** All tables, as soon as one of them is told by its ARN. */
function arnsIn({ TableName, TransactItems, RequestItems }: Input): string[] {
  const names = TransactItems
    ? TransactItems.map((item) => Object.values(item)[0]?.TableName)
    : RequestItems
      ? Object.keys(RequestItems)
      : [TableName];
  return names.some((name) => name?.startsWith("arn:")) ? (names as string[]) : [];
}

/** Characters that a token in a header does not have. https://www.rfc-editor.org/rfc/rfc9110#name-tokens */
const NO_TOKEN = /[^!$%&'*+\-.^_`|~\w#]/g;

export async function userAgentOf(config: SdkConfig): Promise<string> {
  const appId = await config.userAgentAppId?.();
  const pairs = [
    ...(await config.defaultUserAgentProvider()),
    ...(appId ? [["app", appId] as const] : []),
    ...(config.customUserAgent ?? []),
  ];
  return pairs
    .map(([name, version]) => {
      const parts = name.split("/").map((part) => part.replace(NO_TOKEN, "-"));
      const written = (parts[0] === "api" ? parts.map((part) => part.toLowerCase()) : parts).join("/");
      if (!version) return written;
      return `${written}${written.includes("/") ? "#" : "/"}${version.replace(NO_TOKEN, "-")}`;
    })
    .join(" ");
}

/** Tags the one middleware that may stand there: it notes the database's time, which direct requests read themselves. */
export const SERVER_TIME = "ONCEONLY_SERVER_TIME";

/** Configured by objects of a class, by functions, and by functions that are made for each client. */
const OF_CLASS = ["logger", "protocol"] as const;
const OF_MODULE = ["httpAuthSchemeProvider", "signerConstructor"] as const;
const OF_CLIENT = ["signer"] as const;
const OTHERS = ["httpAuthSchemes", "requestHandler"] as const;
const CONFIGURED = [...OF_CLASS, ...OF_MODULE, ...OF_CLIENT, ...OTHERS] as const;

/**
 * To be asked before each request, since tracers and mocks come and go: as long as all is as it was, it only looks.
 * @param reference a client as the SDK makes it
 */
export function untouched(client: SdkClient, reference: () => SdkClient): () => boolean {
  let seen: readonly unknown[] = [];
  let isUntouched = false;
  let made: SdkClient | undefined;
  return () => {
    try {
      const now = partsOf(client);
      if (now.length !== seen.length || now.some((part, index) => part !== seen[index])) {
        seen = now;
        isUntouched = false;
        made ??= reference();
        isUntouched = isAlike(client, made);
      }
      if (isUntouched) (client.send as PassableSend)[PASSABLE]?.prepare(client);
      return isUntouched;
    } catch {
      // A double, or a client of a make that is not known here.
      return false;
    }
  };
}

function partsOf({ send, config, middlewareStack }: SdkClient): readonly unknown[] {
  const parts: unknown[] = [send, config];
  for (const name of CONFIGURED) parts.push(config[name]);
  readStack(middlewareStack, (middleware) => parts.push(middleware));
  return parts;
}

function isAlike(client: SdkClient, reference: SdkClient): boolean {
  const [config, usual] = [client.config, reference.config];
  return (
    client.send === reference.send &&
    isOfSdk(client.send) &&
    String(middlewaresOf(client)) === String(middlewaresOf(reference)) &&
    OF_CLASS.every((name) => Object(config[name]).constructor === Object(usual[name]).constructor) &&
    OF_MODULE.every((name) => config[name] === usual[name]) &&
    OF_CLIENT.every((name) => textOf(config[name]) === textOf(usual[name])) &&
    schemesOf(client) === schemesOf(reference) &&
    !client.config.requestHandler.metadata?.handlerProtocol?.includes("h2")
  );
}

/** A wrapper has no need of what the SDK's own does with a command. A proxy has no text. */
function isOfSdk(send: unknown): boolean {
  const inner = (send as PassableSend)[PASSABLE];
  return inner ? isOfSdk(inner.send) : textOf(send).includes(".resolveMiddleware(");
}

/** In their order, with their text: some are made anew for each client. */
function middlewaresOf({ middlewareStack }: SdkClient): readonly string[] {
  const texts: string[] = [];
  readStack(middlewareStack, (middleware, { name, tags }) => {
    if (!tags?.includes(SERVER_TIME)) texts.push(`${name} ${textOf(middleware)}`);
  });
  return texts;
}

/** A stack hands its entries to any other stack. */
function readStack(
  stack: SdkClient["middlewareStack"],
  add: (middleware: unknown, entry: StackEntry) => void,
): void {
  stack.applyToStack({ add, addRelativeTo: add } as never);
}

function schemesOf({ config }: SdkClient): string {
  return config.httpAuthSchemes
    .map(({ schemeId, signer }) => `${schemeId} ${textOf(signer.constructor)}`)
    .join();
}

function textOf(made: unknown): string {
  return Function.prototype.toString.call(made);
}
