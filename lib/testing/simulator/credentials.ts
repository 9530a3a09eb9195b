/** A region and credentials for clients of the AWS SDK that find none: they sign requests that never leave the process. */

const NEEDED = {
  AWS_REGION: "us-east-1",
  AWS_ACCESS_KEY_ID: "simulated",
  AWS_SECRET_ACCESS_KEY: "simulated",
  AWS_EC2_METADATA_DISABLED: "true",
} as const;

/** Which of them were added, and by how many simulations at once they are needed. */
const added = new Set<string>();
let users = 0;

/** For as long as `work` takes. */
export async function withCredentials<T>(work: () => Promise<T>): Promise<T> {
  // Unchanged handlers make their clients of it. What was there stays.
  const { env } = process;
  users++;
  for (const [name, value] of Object.entries(NEEDED)) {
    if (env[name] !== undefined) continue;
    env[name] = value;
    added.add(name);
  }
  try {
    return await work();
  } finally {
    users--;
    if (users === 0) {
      for (const name of added) delete env[name];
      added.clear();
    }
  }
}
