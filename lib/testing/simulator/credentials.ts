/** A region and credentials for clients of the AWS SDK: they sign requests that never leave the process. */

const NEEDED = {
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "simulated",
  AWS_SECRET_ACCESS_KEY: "simulated",
  AWS_EC2_METADATA_DISABLED: "true",
} as const;

/** The SDK prefers a profile to all of these, and would ask for its credentials elsewhere. */
const DISTURBING = ["AWS_PROFILE"] as const;

/** What there was instead, and by how many simulations at once they are needed. */
const former = new Map<string, string | undefined>();
let users = 0;

/** For as long as `work` takes. */
export async function withCredentials<T>(work: () => Promise<T>): Promise<T> {
  // Unchanged handlers make their clients of it. What was there stays, but for a profile.
  const { env } = process;
  users++;
  for (const [name, value] of Object.entries(NEEDED)) {
    if (env[name] !== undefined) continue;
    former.set(name, undefined);
    env[name] = value;
  }
  for (const name of DISTURBING) {
    if (env[name] === undefined) continue;
    former.set(name, env[name]);
    delete env[name];
  }
  try {
    return await work();
  } finally {
    users--;
    if (users === 0) {
      for (const [name, value] of former) {
        if (value === undefined) delete env[name];
        else env[name] = value;
      }
      former.clear();
    }
  }
}
