/** Decides how to handle a commit that couldn't be read. */
import { hasCode } from "../core/error-code.ts";
import type { Unsent } from "../core/messages/outbox.ts";
import type { OutboxSettings } from "./outbox-options.ts";
import { reportCommit } from "./report-sends.ts";

/**
 * Reports the error. A corrupt commit is parked, so that it holds up nothing, and may be skipped (`undefined`). A later
 * version's commit stays, because that version sends it. If the error may be temporary, the commit is read `again`.
 */
export async function passOver(
  settings: OutboxSettings,
  commit: Pick<Unsent, "recordKey" | "committedAt">,
  error: unknown,
): Promise<"again" | undefined> {
  const { outbox, rules } = settings;
  const now = rules.clock.now();
  // The commit's time may be unknown.
  const known = { ...commit, committedAt: commit.committedAt || now };
  if (!hasCode(error, "RECORD_CORRUPT")) {
    reportCommit(settings, "send-failed", known, 0, error);
    return "again";
  }
  try {
    const isParked = await outbox.park(commit.recordKey, now);
    reportCommit(settings, isParked ? "parked" : "send-failed", known, 0, error);
    return undefined;
  } catch (failure) {
    reportCommit(settings, "send-failed", known, 0, failure);
    return "again";
  }
}
