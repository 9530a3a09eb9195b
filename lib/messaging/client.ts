/** Clients of the AWS SDK: the caller's, or ours, whose package is loaded when something is to be sent. */

/** A client of any version 3 of the SDK. */
export interface AwsClientLike {
  readonly config: object;
  send(...args: never[]): unknown;
}

/** Gives up connecting after 1 second and a request after 3. */
export const CLIENT_CONFIG = {
  // Without the last one a request that is over its time is only warned about.
  requestHandler: { connectionTimeout: 1000, requestTimeout: 3000, throwOnRequestTimeout: true },
} as const;

/** Bundlers pass over a package that is not there only where the failure of its `import` is handled. */
export function cannotLoad(name: string) {
  return function rethrowNamed(cause: unknown): never {
    const { code } = Object(cause) as { code?: unknown };
    const why = `cannot load '${name}', which sends these messages: npm install ${name}`;
    throw Object.assign(new Error(why, { cause }), { code });
  };
}
