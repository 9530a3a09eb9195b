/**
 * A Region and credentials for clients of the AWS SDK, whose requests never leave the process. The real
 * credentials are hidden. So AWS refuses a client that escapes the simulation, such as one of another copy of
 * the SDK.
 */

const SIMULATED = "simulated";

/** The environment variables during a simulation; `undefined` hides a variable. */
const DURING: Readonly<Record<string, string | undefined>> = {
  AWS_ACCESS_KEY_ID: SIMULATED,
  AWS_SECRET_ACCESS_KEY: SIMULATED,
  AWS_SESSION_TOKEN: undefined,
  // The SDK prefers a profile to the keys, and would look for the profile's credentials.
  AWS_PROFILE: undefined,
  AWS_EC2_METADATA_DISABLED: "true",
};
const DEFAULT_REGION = "us-east-1";

/** The previous values, and how many simulations are replacing them now. */
const former = new Map<string, string | undefined>();
let users = 0;

/** Replaces the variables while `work` lasts. */
export async function withCredentials<T>(work: () => Promise<T>): Promise<T> {
  // Unchanged handlers configure their clients from these variables.
  const { env } = process;
  users++;
  if (users === 1) {
    const during = { ...DURING, AWS_REGION: env.AWS_REGION ?? DEFAULT_REGION };
    for (const name of Object.keys(during)) former.set(name, env[name]);
    assign(Object.entries(during));
  }
  try {
    return await work();
  } finally {
    users--;
    if (users === 0) assign(former);
  }
}

function assign(variables: Iterable<readonly [name: string, value: string | undefined]>): void {
  const { env } = process;
  for (const [name, value] of variables) {
    if (value === undefined) delete env[name];
    else env[name] = value;
  }
}
