/** The credentials that sign requests. Found once, kept, and renewed before they expire. */
import type { Credentials } from "../dynamodb/wire/signature.ts";
import {
  containerCredentials,
  containerEndpoint,
  type ExpiringCredentials,
} from "./container-credentials.ts";
import { type Environment, environment } from "./environment.ts";
import { LeanClientError } from "./lean-client-error.ts";
import { namesCredentials, readProfile } from "./profile.ts";

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

/**
 * In the SDK's order: a profile that is named, the environment's keys, the default profile, a web identity, the endpoint of
 * a container. Profiles and web identities are read by the SDK's own chain, which is refused by name if it isn't installed.
 * @throws LeanClientError
 */
export async function foundCredentials(env: Environment = environment()): Promise<ExpiringCredentials> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN } = env;
  if (env.AWS_PROFILE) return sdkCredentials("AWS_PROFILE is set");
  if (accessKeyId && secretAccessKey) {
    return { accessKeyId, secretAccessKey, sessionToken: AWS_SESSION_TOKEN || undefined };
  }
  if (namesCredentials(readProfile(env))) return sdkCredentials("the default AWS profile has credentials");
  if (env.AWS_WEB_IDENTITY_TOKEN_FILE && env.AWS_ROLE_ARN) {
    return sdkCredentials("AWS_WEB_IDENTITY_TOKEN_FILE is set");
  }
  const endpoint = containerEndpoint(env);
  if (endpoint) return containerCredentials(endpoint, env);
  return sdkCredentials("AWS_ACCESS_KEY_ID is not set, nor an endpoint of a container");
}

/** Profiles, single sign-on, web identities, EC2: on developers' machines, and outside of functions. */
async function sdkCredentials(why: string): Promise<ExpiringCredentials> {
  // A name that is not written out, so that no bundle carries the chain.
  const name = ["@aws-sdk", "credential-provider-node"].join("/");
  let chain: { readonly defaultProvider: () => CredentialSource };
  try {
    chain = (await import(name)) as typeof chain;
  } catch (cause) {
    throw noCredentials(`${why}, and only the SDK's chain reads those credentials`, cause);
  }
  return chain.defaultProvider()();
}

function noCredentials(why: string, cause?: unknown): LeanClientError {
  return new LeanClientError(
    "CredentialsProviderError",
    `there are no credentials: ${why}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY without AWS_PROFILE, give the client \`credentials\`, or install @aws-sdk/credential-provider-node`,
    { cause },
  );
}
