/** AWS SDK clients, given by the caller or created here, one per Region. */
import type { Address } from "../core/messages/address.ts";
import { DestinationRefused } from "./destination-queue.ts";

/** A client of any SDK version 3. */
export interface AwsClientLike {
  readonly config: object;
  send(...args: never[]): unknown;
}

/** Gives up connecting after 1 second and a request after 3. */
export const CLIENT_CONFIG = {
  // Without `throwOnRequestTimeout`, the SDK only warns when a request exceeds its timeout.
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
} as const;

/** Bundlers ignore a missing package only if the code handles a failing `import`. */
export function cannotLoad(name: string) {
  return function rethrowNamed(cause: unknown): never {
    const { code } = Object(cause) as { code?: unknown };
    const why = `sending these messages needs ${name}: npm install ${name}`;
    throw Object.assign(new Error(why, { cause }), { code });
  };
}

/** The configuration that determines host and credentials of a client's requests. Test clients have none. */
interface KnownConfig {
  readonly region?: () => Promise<string>;
  readonly endpoint?: () => Promise<{ protocol: string; hostname: string; port?: number }>;
  /** Reads the environment or the configuration file. */
  readonly serviceConfiguredEndpoint?: () => Promise<string | undefined>;
  readonly credentials?: unknown;
  readonly requestHandler?: unknown;
}

/** The configuration of clients created here, in addition to `CLIENT_CONFIG`. */
export type RegionalConfig = Pick<KnownConfig, "credentials" | "requestHandler"> & {
  readonly region?: string | undefined;
  readonly endpoint?: string | undefined;
};

export class RegionalClients<Client extends AwsClientLike> {
  readonly #given: Client | undefined;
  readonly #make: (config: RegionalConfig) => Client;
  readonly #made = new Map<string, Promise<Client>>();

  constructor(given: AwsClientLike | undefined, make: (config: RegionalConfig) => Client) {
    this.#given = given as Client | undefined;
    this.#make = make;
  }

  /**
   * Returns the client for an address: the given one, unless the address is in another Region.
   * @throws DestinationRefused for an address of a local engine without a configured endpoint. Its host could be
   * anyone's, and a signed request carries a session token.
   */
  at(address: Address): Promise<Client> {
    const { region, endpoint, isLocal, text } = address;
    const place = `${region} ${endpoint} ${isLocal && new URL(text).origin}`;
    let client = this.#made.get(place);
    if (client === undefined) {
      client = this.#given ? this.#forGiven(this.#given, address) : this.#ours(address);
      this.#made.set(place, client);
      // If a client can't be created, try again the next time.
      client.catch(() => this.#made.delete(place));
    }
    return client;
  }

  /** Requests go to the configured endpoint, or else to the address's, regardless of the host in a message. */
  async #ours({ region, endpoint, isLocal }: Address): Promise<Client> {
    const client = this.#make({ region });
    if ((await originOf(client)) !== undefined) return client;
    if (isLocal) throw refusalOfLocal();
    return endpoint === undefined ? client : this.#make({ region, endpoint });
  }

  async #forGiven(given: Client, { region, endpoint, isLocal, text }: Address): Promise<Client> {
    const { credentials, requestHandler, ...config }: KnownConfig = given.config;
    if (config.region === undefined) return given;
    const own = await config.region();
    const configured = await originOf(given);
    if (isLocal) {
      if (configured === undefined) throw refusalOfLocal();
      // The SQS client calls the host in the queue's URL.
      if (new URL(text).origin === configured) return given;
      return this.#make({ region: own, endpoint: configured, credentials, requestHandler });
    }
    if (configured !== undefined || region === undefined || region === own) return given;
    return this.#make({ region, endpoint, credentials, requestHandler });
  }
}

/** The origin of a client's requests, if one is configured. */
async function originOf({ config }: AwsClientLike): Promise<string | undefined> {
  const { endpoint, serviceConfiguredEndpoint }: KnownConfig = config;
  const configured = await serviceConfiguredEndpoint?.();
  if (endpoint === undefined) return configured && new URL(configured).origin;
  const { protocol, hostname, port } = await endpoint();
  return new URL(`${protocol}//${hostname}${port === undefined ? "" : `:${port}`}`).origin;
}

function refusalOfLocal(): DestinationRefused {
  return new DestinationRefused(
    "a queue on a local engine needs a configured endpoint: set AWS_ENDPOINT_URL_SQS, or `endpoint` of the client",
  );
}
