/**
 * The profile that the SDK would use from AWS's shared files. Lambda functions have no such files; laptops and containers may.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./environment.ts";
import { LeanClientError } from "./lean-client-error.ts";

export interface Profile {
  readonly name: string;
  readonly settings: ReadonlyMap<string, string>;
}

/** Each of these settings names a source of credentials. */
const OF_CREDENTIALS =
  /^(aws_access_key_id|credential_(process|source)|login_session|role_arn|sso_\w+|web_identity_token_file)$/;

export function readProfile(env: Environment): Profile {
  const name = env.AWS_PROFILE || "default";
  const home = join(env.HOME || env.USERPROFILE || homedir(), ".aws");
  const titles = [name, `profile ${name}`, `profile "${name}"`];
  const settings = new Map<string, string>();
  for (const file of [
    env.AWS_SHARED_CREDENTIALS_FILE || join(home, "credentials"),
    env.AWS_CONFIG_FILE || join(home, "config"),
  ]) {
    let isOpen = false;
    for (const line of readText(file).split(/\r?\n/)) {
      const [, title] = /^\s*\[\s*(.*?)\s*\]/.exec(line) ?? [];
      if (title !== undefined) isOpen = titles.includes(title);
      const [, key, value] = /^(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      if (isOpen && key !== undefined) settings.set(key, value!);
    }
  }
  return { name, settings };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    // Like the SDK, treat a missing or unreadable file as one without settings.
    return "";
  }
}

export function namesCredentials({ settings }: Profile): boolean {
  return [...settings.keys()].some((setting) => OF_CREDENTIALS.test(setting));
}

/**
 * Refuses a profile with which the SDK would send requests elsewhere.
 * @throws LeanClientError
 */
export function refuseForeignPlace(
  { name, settings }: Profile,
  env: Environment,
  configured: string | undefined,
): void {
  const isIgnored = configured !== undefined || env.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS === "true";
  const found = [
    ...(isIgnored ? [] : ["endpoint_url", "services"]),
    ...(env.AWS_USE_FIPS_ENDPOINT ? [] : ["use_fips_endpoint"]),
    ...(env.AWS_USE_DUALSTACK_ENDPOINT ? [] : ["use_dualstack_endpoint"]),
    ...(env.AWS_ACCOUNT_ID_ENDPOINT_MODE ? [] : ["account_id_endpoint_mode"]),
  ].find((setting) => !/^(false|preferred|disabled)$/.test(settings.get(setting) ?? "false"));
  if (found === undefined) return;
  throw new LeanClientError(
    "EndpointError",
    `the AWS profile "${name}" sets ${found}, which this client doesn't support: set an environment variable instead, such as AWS_ENDPOINT_URL`,
  );
}

/** @throws LeanClientError */
export function configuredAttempts(env: Environment): number | undefined {
  const text = env.AWS_MAX_ATTEMPTS || readProfile(env).settings.get("max_attempts");
  if (!text) return undefined;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new LeanClientError(
    "RetryConfigError",
    "AWS_MAX_ATTEMPTS, or the profile's max_attempts, must be a whole number of at least 1",
  );
}
