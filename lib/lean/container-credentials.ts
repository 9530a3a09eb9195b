/** Credentials from the endpoint named in the environment: SnapStart's, a container's or a pod's. */
import { readFile } from "node:fs/promises";
import type { Credentials } from "../dynamodb/wire/signature.ts";
import type { Environment } from "./environment.ts";
import { httpModule } from "./http-module.ts";
import { LeanClientError } from "./lean-client-error.ts";

export interface ExpiringCredentials extends Credentials {
  /** New ones are requested before that time. */
  readonly expiration?: Date | undefined;
}

const TIMEOUT_MS = 1000;
const TRIES = 3;
/** A set of credentials is a few kilobytes. */
const MAX_BYTES = 65_536;

/** Hosts that may get a token without encryption: this machine, the agents of ECS and EKS. */
const TRUSTED = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|169\.254\.170\.(2|23)|\[fd00:ec2::23\])$/;

/** @returns `undefined` if the environment names none */
export function containerEndpoint(env: Environment): URL | undefined {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path, AWS_CONTAINER_CREDENTIALS_FULL_URI: full } = env;
  const text = path ? `http://169.254.170.2${path}` : full;
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && (url.protocol === "https:" || (url.protocol === "http:" && TRUSTED.test(url.hostname))))
    return url;
  throw new LeanClientError(
    "CredentialsProviderError",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https URL, this machine, or the ECS or EKS agent; no credentials were requested from it",
  );
}

/** @throws LeanClientError */
export async function containerCredentials(url: URL, env: Environment): Promise<ExpiringCredentials> {
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file, AWS_CONTAINER_AUTHORIZATION_TOKEN: given } = env;
  let cause: unknown;
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      const token = file ? (await readFile(file, "utf8")).trim() : given;
      return readCredentials(await get(url, token ? { authorization: token } : {}));
    } catch (error) {
      cause = error;
    }
  }
  throw new LeanClientError(
    "CredentialsProviderError",
    "the credentials endpoint from the environment responded without credentials",
    { cause },
  );
}

function readCredentials(text: string): ExpiringCredentials {
  const read = JSON.parse(text) as Readonly<Record<string, string>>;
  const {
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    Token: sessionToken,
    Expiration,
  } = read;
  if (!accessKeyId || !secretAccessKey || !sessionToken)
    throw new Error("no AccessKeyId, SecretAccessKey and Token");
  const expiration = new Date(`${Expiration}`);
  if (Number.isNaN(expiration.getTime())) throw new Error("no Expiration");
  return { accessKeyId, secretAccessKey, sessionToken, expiration };
}

function get(url: URL, headers: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = httpModule(url.protocol).get(url, { headers });
    const timer = setTimeout(
      () => request.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)),
      TIMEOUT_MS,
    );
    request.once("error", reject);
    request.once("close", () => clearTimeout(timer));
    request.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.once("error", reject);
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_BYTES) request.destroy(new Error("a response too large for credentials"));
      });
      response.once("end", () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`status ${response.statusCode}`));
      });
    });
  });
}
