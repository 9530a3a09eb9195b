/** Clients of the AWS SDK: the caller's, or ours, one for each Region. */
import type { Address } from "../core/messages/address.ts";
import { DestinationRefused } from "./destination-queue.ts";

/** A client of any version 3 of the SDK. */
export interface AwsClientLike {
  readonly config: object;
  send(...args: never[]): unknown;
}

/** Gives up connecting after 1 second and a request after 3. */
export const CLIENT_CONFIG = {
  // Without `throwOnRequestTimeout` the SDK only warns about a request that is over its time.
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
} as const;

/** Bundlers pass over a missing package only where the failure of its `import` is handled. */
export function cannotLoad(name: string) {
  return function rethrowNamed(cause: unknown): never {
    const { code } = Object(cause) as { code?: unknown };
    const why = `cannot load '${name}', which sends these messages: npm install ${name}`;
    throw Object.assign(new Error(why, { cause }), { code });
  };
}

/** The configuration by which a client's requests find their host and their rights. Clients of tests have none. */
interface KnownConfig {
  readonly region?: () => Promise<string>;
  readonly endpoint?: () => Promise<{ protocol: string; hostname: string; port?: number }>;
  /** From the environment or the configuration file. */
  readonly serviceConfiguredEndpoint?: () => Promise<string | undefined>;
  readonly credentials?: unknown;
  readonly requestHandler?: unknown;
}

/** The configuration of a client of ours, beyond `CLIENT_CONFIG`. */
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
   * Answers with the client for an address: the given one, unless the address is in another Region than its own.
   * @throws DestinationRefused for an address of a local engine where no endpoint is configured. Its host might be
   * anybody's, and a signed request carries a session token.
   */
  at(address: Address): Promise<Client> {
    const { region, endpoint, isLocal, text } = address;
    const place = `${region} ${endpoint} ${isLocal ? new URL(text).origin : ""}`;
    let client = this.#made.get(place);
    if (client === undefined) {
      client = this.#given ? this.#forGiven(this.#given, address) : this.#ours(address);
      this.#made.set(place, client);
      // A client that could not be made is made the next time.
      client.catch(() => this.#made.delete(place));
    }
    return client;
  }

  /** Requests go to the configured endpoint, else to that of the address, whatever host a message names. */
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
      // The client of SQS asks the host in the queue's URL.
      if (new URL(text).origin === configured) return given;
      return this.#make({ region: own, endpoint: configured, credentials, requestHandler });
    }
    if (configured !== undefined || region === undefined || region === own) return given;
    return this.#make({ region, endpoint, credentials, requestHandler });
  }
}

/** The origin to which a client's requests go, if somebody configured one. */
async function originOf({ config }: AwsClientLike): Promise<string | undefined> {
  const { endpoint, serviceConfiguredEndpoint }: KnownConfig = config;
  const configured = await serviceConfiguredEndpoint?.();
  if (endpoint === undefined) return configured && new URL(configured).origin;
  const { protocol, hostname, port } = await endpoint();
  return new URL(`${protocol}//${hostname}${port === undefined ? "" : `:${port}`}`).origin;
}

function refusalOfLocal(): DestinationRefused {
  return new DestinationRefused(
    "a queue of a local engine is reached by a configured endpoint only: set AWS_ENDPOINT_URL_SQS, or `endpoint` of the client",
  );
}
