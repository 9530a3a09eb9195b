/** Where an SDK's client sends requests, and for which Region it signs them: asked of the SDK, and kept while its settings stay. */
import type { SdkConfig, SdkCredentials } from "./sdk-client.ts";

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

/** Of accounts and tables. More would be no cache. */
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

  async #find(
    key: string,
    AccountId: string | undefined,
    arns: readonly string[],
  ): Promise<Place | undefined> {
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
    return [config.ignoreConfiguredEndpointUrls ? undefined : await config.serviceConfiguredEndpoint()];
  }
  const endpoint = await config.endpoint!();
  const hasHeaders = Object.keys(endpoint.headers ?? {}).length > 0;
  if ("url" in endpoint) return [endpoint.url.href, hasHeaders];
  const { protocol, hostname, port, path } = endpoint;
  return [`${protocol}//${hostname}${port ? `:${port}` : ""}${path}`, hasHeaders];
}

/** All tables, as soon as one of them is told by its ARN. */
function arnsIn({ TableName, TransactItems, RequestItems }: Input): readonly string[] {
  const names = TransactItems
    ? TransactItems.map((item) => Object.values(item)[0]?.TableName)
    : RequestItems
      ? Object.keys(RequestItems)
      : [TableName];
  return names.some((name) => name?.startsWith("arn:")) ? (names as string[]) : [];
}
