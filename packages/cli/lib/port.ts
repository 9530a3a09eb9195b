/** The port that an option names. */
import { UsageError } from "./command.ts";

/** @throws UsageError */
export function portOf(text: string, option: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw new UsageError(`${option} must be a whole number from 0 to 65535 (got ${text})`);
}
