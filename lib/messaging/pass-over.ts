/** Decides what becomes of a commit that could not be read. */
import { hasCode } from "../core/error-code.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import type { OutboxSettings } from "./outbox-options.ts";
import { tell } from "./send-commit.ts";

/**
 * Tells why. A corrupt commit is parked, so that it holds up nothing, and may be passed over (`undefined`). A commit of a
 * later version stays where it is, since that version sends it. A commit that was unreadable just now is read `again`.
 */
export async function passOver(
  settings: OutboxSettings,
  commit: Pick<Unsent, "recordKey" | "committedAt">,
  error: unknown,
): Promise<"again" | undefined> {
  const { outbox, rules } = settings;
  const now = rules.clock.now();
  // For a commit whose time nobody knows.
  const known = { ...commit, committedAt: commit.committedAt || now };
  if (!hasCode(error, "RECORD_CORRUPT")) {
    tell(settings, "send-failed", known, 0, error);
    return "again";
  }
  try {
    const isParked = await outbox.park(commit.recordKey, now);
    tell(settings, isParked ? "parked" : "send-failed", known, 0, error);
    return undefined;
  } catch (failure) {
    tell(settings, "send-failed", known, 0, failure);
    return "again";
  }
}
