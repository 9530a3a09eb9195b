/** Removes the notes of lines in which nothing waits any more, so that relays send to them again. */
import { isResting, type LineNote, withHandover, withoutLast } from "./line-notes.ts";
import type { Sender } from "./sender.ts";
import { type Sweep, sweepShards } from "./sweep-shards.ts";

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
  let left = await liftDone(sender);
  if (time.hasMore()) {
    for (const [name] of left)
      lines.notes.change((notes) => withHandover(notes, name, clock.now() + HANDOVER_MS));
    await lines.notes.save();
    for (const ms of LOOKS_MS) {
      if (left.length === 0 || !time.hasMore()) break;
      // An index is updated a moment after its table.
      await clock.sleep(ms);
      const shards = new Set(left.flatMap(([, { last }]) => Object.keys(last).map(Number)));
      await sweepShards([...shards], sweep);
      left = await liftDone(sender);
    }
    for (const [name] of left) lines.notes.change((notes) => withHandover(notes, name, undefined));
  }
  await lines.notes.save();
}

/** Returns the notes of lines that work again but still have waiting messages. */
async function liftDone(sender: Sender): Promise<[name: string, note: LineNote][]> {
  const { settings, lines } = sender;
  const now = settings.rules.clock.now();
  const isDue = ([name, note]: [string, LineNote]) => !isResting(note, now) && lines.isWorking(name);
  const all = Object.entries(lines.notes.current).filter(isDue);
  for (const [name, { last }] of all) {
    for (const [shard, [recordKey]] of Object.entries(last)) {
      if (await waitsFor(name, recordKey, sender)) continue;
      lines.notes.change((notes) => withoutLast(notes, name, shard, recordKey));
    }
  }
  await lines.notes.save();
  return Object.entries(lines.notes.current).filter(isDue);
}

async function waitsFor(name: string, recordKey: string, { settings, lines }: Sender): Promise<boolean> {
  const unsent = await settings.outbox.load(recordKey);
  return unsent !== undefined && lines.waitsIn(name, unsent);
}
