/**
 * A region and credentials for clients of the AWS SDK: they sign requests that never leave the process. The real ones are
 * hidden, so that a client that escapes the simulation, such as one of another copy of the SDK, is refused by AWS.
 */

const SIMULATED = "simulated";

/** What the environment says during a simulation; `undefined` for what is hidden. */
const DURING: Readonly<Record<string, string | undefined>> = {
  AWS_ACCESS_KEY_ID: SIMULATED,
  AWS_SECRET_ACCESS_KEY: SIMULATED,
  AWS_SESSION_TOKEN: undefined,
  // The SDK prefers a profile to the keys, and would ask for its credentials elsewhere.
  AWS_PROFILE: undefined,
  AWS_EC2_METADATA_DISABLED: "true",
};
const DEFAULT_REGION = "us-east-1";

/** What there was instead, and by how many simulations at once it is replaced. */
const former = new Map<string, string | undefined>();
let users = 0;

/** For as long as `work` takes. */
export async function withCredentials<T>(work: () => Promise<T>): Promise<T> {
  // Unchanged handlers make their clients of it.
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
