/** Finishes busy lines that work again, so that relays send to them again. */
import { isOwn, withHandover } from "./line-notes.ts";
import type { Sender } from "./sender.ts";
import type { Sweep } from "./sweep-chunk.ts";
import { sweepShards } from "./sweep-shards.ts";

/** The longest time that relays hold their messages back. */
const HANDOVER_MS = 10_000;

/** The sweeper's waits before each check for messages left in the meantime. */
const LOOKS_MS = [0, 100, 200, 400, 800, 1600];

/**
 * In a busy line, there's always a message that a relay left since the sweeper's last check. So relays are asked to hold
 * back for a moment while the rest is sent.
 */
export async function liftLines(sweep: Sweep): Promise<void> {
  const { sender } = sweep;
  const { lines, time } = sender;
  const { clock } = sender.settings.rules;
  let left = leftIn(sender);
  if (left.length > 0 && time.hasMore()) {
    for (const { name } of left)
      lines.notes.change((notes) => withHandover(notes, name, clock.now() + HANDOVER_MS));
    await lines.notes.save();
    for (const ms of LOOKS_MS) {
      if (left.length === 0 || !time.hasMore()) break;
      // An index is updated a moment after its table.
      await clock.sleep(ms);
      await sweepShards([...new Set(left.flatMap(({ shards }) => shards))], sweep);
      left = leftIn(sender);
    }
    for (const { name } of left) lines.notes.change((notes) => withHandover(notes, name, undefined));
  }
  await lines.notes.save();
}

/** The notes of lines that work again but still have waiting messages. */
function leftIn({ settings, lines }: Sender): { name: string; shards: number[] }[] {
  const now = settings.rules.clock.now();
  return Object.entries(lines.notes.current)
    .filter(([name, { until }]) => !isOwn(name) && until <= now && lines.isWorking(name))
    .map(([name, { last }]) => ({ name, shards: Object.keys(last).map(Number) }));
}
