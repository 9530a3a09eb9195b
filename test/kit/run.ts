// Runs a command to its end.
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/** @throws Error with all that was printed, unless the exit status is 0 */
export async function run(
  command: string,
  args: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Printed> {
  const env = { ...process.env, ...environment };
  return promisify(execFile)(command, args, { cwd: folder, env }).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
  });
}
