/** The credentials that sign requests. Found once, kept, and renewed before they expire. */
import type { Credentials } from "../dynamodb/wire/signature.ts";
import { containerCredentials, containerEndpoint } from "./container-credentials.ts";
import { type Environment, environment } from "./environment.ts";
import { LeanClientError } from "./lean-client-error.ts";

export interface ExpiringCredentials extends Credentials {
  /** Asked for again before that time. */
  readonly expiration?: Date | undefined;
}

export type CredentialSource = () => ExpiringCredentials | Promise<ExpiringCredentials>;

/**
 * How long before their expiry credentials are renewed, and how long before it they sign no more.
 */
const RENEWED_MS = 300_000;
const REFUSED_MS = 10_000;

export class HeldCredentials {
  readonly #source: CredentialSource;
  #held: ExpiringCredentials | undefined;
  #asked: Promise<ExpiringCredentials> | undefined;

  constructor(source: CredentialSource) {
    this.#source = source;
  }

  /**
   * At once, where they are there: most requests wait for nothing. All who wait, wait for one answer.
   * @param now epoch ms
   */
  at(now: number): ExpiringCredentials | Promise<ExpiringCredentials> {
    const held = this.#held;
    const remainingMs = held?.expiration ? held.expiration.getTime() - now : Number.POSITIVE_INFINITY;
    if (held === undefined || remainingMs <= REFUSED_MS) return this.#ask();
    // Until then the old ones will do, whatever becomes of the asking.
    if (remainingMs <= RENEWED_MS) this.#ask().catch(() => undefined);
    return held;
  }

  /** The service has refused these. Whether others can be had, the next asking tells. */
  refuse(refused: Credentials): void {
    if (this.#held === refused) this.#held = undefined;
  }

  #ask(): Promise<ExpiringCredentials> {
    this.#asked ??= this.#find().finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  async #find(): Promise<ExpiringCredentials> {
    const found = await this.#source();
    const { accessKeyId, secretAccessKey } = Object(found) as Partial<ExpiringCredentials>;
    if (!accessKeyId || !secretAccessKey) throw noCredentials("the source that was given has none");
    this.#held = found;
    return found;
  }
}

/** From the environment, the endpoint of the container, or the SDK's own chain where that is installed. */
export async function foundCredentials(env: Environment = environment()): Promise<ExpiringCredentials> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = env;
  if (accessKeyId && secretAccessKey) {
    return { accessKeyId, secretAccessKey, sessionToken: AWS_SESSION_TOKEN || undefined };
  }
  const endpoint = containerEndpoint(env);
  return endpoint ? containerCredentials(endpoint, env) : sdkCredentials();
}

/** Profiles, single sign-on, web identities, EC2: on the machines of developers, and where functions do not run. */
async function sdkCredentials(): Promise<ExpiringCredentials> {
  // A name that is not written out, so that no bundle carries the chain.
  const name = ["@aws-sdk", "credential-provider-node"].join("/");
  let chain: { readonly defaultProvider: () => CredentialSource };
  try {
    chain = (await import(name)) as typeof chain;
  } catch (cause) {
    throw noCredentials("AWS_ACCESS_KEY_ID is not set, nor an endpoint of a container", cause);
  }
  return chain.defaultProvider()();
}

function noCredentials(why: string, cause?: unknown): LeanClientError {
  return new LeanClientError(
    "CredentialsProviderError",
    `there are no credentials: ${why}; set the variables of the environment, give the client \`credentials\`, or install @aws-sdk/credential-provider-node`,
    { cause },
  );
}
