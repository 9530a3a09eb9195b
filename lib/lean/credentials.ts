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

/** How long before their expiry credentials are renewed, and how long before it they are no longer used. */
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
   * Returns them synchronously if possible, so that most requests don't wait. Concurrent waiters share one lookup.
   * @param now epoch ms
   */
  at(now: number): ExpiringCredentials | Promise<ExpiringCredentials> {
    const held = this.#held;
    const remainingMs = held?.expiration ? held.expiration.getTime() - now : Number.POSITIVE_INFINITY;
    if (held === undefined || remainingMs <= REFUSED_MS) return this.#ask();
    // Until then the old ones are good enough, even if the lookup fails.
    if (remainingMs <= RENEWED_MS) this.#ask().catch(() => undefined);
    return held;
  }

  /** The service has refused these. The next lookup finds out whether there are others. */
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
    if (!accessKeyId || !secretAccessKey) throw noCredentials("the `credentials` function returned none");
    this.#held = found;
    return found;
  }
}

/**
 * In the SDK's order: a named profile, the environment's keys, the default profile, a web identity, a container's endpoint. The
 * SDK's own chain reads profiles and web identities; if it isn't installed, the error names it.
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
  return sdkCredentials("neither AWS_ACCESS_KEY_ID nor a container credentials endpoint is set");
}

/** Profiles, single sign-on, web identities, EC2: used on developers' machines and outside Lambda. */
async function sdkCredentials(why: string): Promise<ExpiringCredentials> {
  // The name is assembled, so that no bundle includes the chain.
  const name = ["@aws-sdk", "credential-provider-node"].join("/");
  let chain: { readonly defaultProvider: () => CredentialSource };
  try {
    chain = (await import(name)) as typeof chain;
  } catch (cause) {
    throw noCredentials(`${why}, and only the SDK's credential chain can read those`, cause);
  }
  return chain.defaultProvider()();
}

function noCredentials(why: string, cause?: unknown): LeanClientError {
  return new LeanClientError(
    "CredentialsProviderError",
    `no credentials found: ${why}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY without AWS_PROFILE, pass \`credentials\` to the client, or install @aws-sdk/credential-provider-node`,
    { cause },
  );
}
