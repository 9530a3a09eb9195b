/** The clients of one service: one for each Region that something is sent to, made when it is. */
import type { Address } from "../core/address.ts";
import type { AwsClientLike } from "./client.ts";
import { DestinationRefused } from "./destination-refused.ts";

/** What of a client's configuration tells where its requests go, and by which rights. Clients of tests have none. */
interface KnownConfig {
  readonly region?: () => Promise<string>;
  readonly endpoint?: () => Promise<{ protocol: string; hostname: string; port?: number }>;
  /** Of the environment or the configuration file. */
  readonly serviceConfiguredEndpoint?: () => Promise<string | undefined>;
  readonly credentials?: unknown;
  readonly requestHandler?: unknown;
}

/** What a client of ours is made with, beyond what all of them have in common. */
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
   * The client for an address. The given one is used as it is, but for another Region than its own.
   * @throws DestinationRefused for an address of a local engine where no endpoint is configured: its host might be
   * anybody, and a signed request carries a session token.
   */
  at(address: Address): Promise<Client> {
    const { region, endpoint, isLocal, text } = address;
    const place = `${region} ${endpoint} ${isLocal ? new URL(text).origin : ""}`;
    let client = this.#made.get(place);
    if (client === undefined) {
      client = this.#given ? this.#forGiven(this.#given, address) : this.#ours(address);
      this.#made.set(place, client);
      // What could not be made is tried again.
      client.catch(() => this.#made.delete(place));
    }
    return client;
  }

  /** Its requests go to the endpoint that is configured, else to the one of the address, whatever host a message names. */
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
      // Of two hosts the client of SQS asks the one in the queue's URL.
      if (new URL(text).origin === configured) return given;
      return this.#make({ region: own, endpoint: configured, credentials, requestHandler });
    }
    if (configured !== undefined || region === undefined || region === own) return given;
    return this.#make({ region, endpoint, credentials, requestHandler });
  }
}

/** Where its requests go, if somebody configured that. */
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
