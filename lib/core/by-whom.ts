/** Who decides something by hand, and why. */
import { type Check, text } from "./option-checks.ts";
import { MAX_TEXT_LENGTH } from "./verify.ts";

/** Both texts are stored with the record, 256 characters at most each. No payloads, no secrets. */
export interface ByWhom {
  /** A name or a ticket, for example. */
  readonly by: string;
  /** A reason, such as `charge ch_1 is in the dashboard`. */
  readonly why: string;
}

export const BY_WHOM_CHECKS: Readonly<Record<keyof ByWhom, Check>> = {
  by: text(MAX_TEXT_LENGTH),
  why: text(MAX_TEXT_LENGTH),
};
