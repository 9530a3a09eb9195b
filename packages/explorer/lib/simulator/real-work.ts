/** Detects when this process has no real work left, so virtual time may advance. */
import { shared } from "onceonly/kit";

/** Resources that may stay open for long without any work. All others end by themselves, soon. */
const LASTING = new Set([
  "FSEventWrap",
  "PipeServerWrap",
  "PipeWrap",
  "ProcessWrap",
  "SignalWrap",
  "StatWatcher",
  "TCPServerWrap",
  "TCPSocketWrap",
  "TLSWrap",
  "TTYWrap",
  "Timeout",
  "UDPWrap",
  "Worker",
]);
/** How long a new channel may stay open, in real ms: module loaders answer through one. */
const LONGEST_ANSWER_MS = 5000;

/** Code that repeats itself for this time, in real ms, and this often, will never wait for time. */
const LONGEST_BUSY = { ms: 3000, rounds: 50_000 } as const;

const realNow = performance.now.bind(performance);
const realImmediate = setImmediate;

/** Work that any copy of the package began keeps the time of each simulation still. */
const underWay = shared("real work", () => ({
  /** Hidden work on Node's threads; the code that starts the work counts it. */
  threads: 0,
  /** Simulations that wait for their own turn. */
  turns: 0,
  /** How many channels are open for good. */
  channels: Number.POSITIVE_INFINITY,
}));

/** Counts work on a thread until the returned function is called. */
export function beginThreadWork(): () => void {
  underWay.threads++;
  let isRunning = true;
  return function endThreadWork() {
    if (isRunning) underWay.threads--;
    isRunning = false;
  };
}

/**
 * Resolves when all ready code has run, and no real work is waited for.
 * @throws Error when code runs on and on without waiting
 */
export async function untilQuiet(): Promise<void> {
  let channelSince: number | undefined;
  let busySince: number | undefined;
  for (let rounds = 0; ; rounds++) {
    underWay.turns++;
    await new Promise<void>((resolve) => realImmediate(resolve));
    underWay.turns--;
    const waitsFor = whatIsUnderWay();
    if (waitsFor === undefined) return;
    if (waitsFor !== "immediates") [rounds, busySince] = [0, undefined];
    else busySince ??= realNow();
    if (rounds > LONGEST_BUSY.rounds && realNow() - (busySince ?? 0) > LONGEST_BUSY.ms) {
      throw new Error(
        "something keeps calling setImmediate, which doesn't advance virtual time: wait with a timer instead",
      );
    }
    if (waitsFor === "channel") channelSince ??= realNow();
    else channelSince = undefined;
    if (channelSince !== undefined && realNow() - channelSince > LONGEST_ANSWER_MS) underWay.channels++;
  }
}

function whatIsUnderWay(): "work" | "immediates" | "channel" | undefined {
  if (underWay.threads > 0 || importsUnderWay() > 0) return "work";
  let immediates = 0;
  let open = 0;
  for (const kind of process.getActiveResourcesInfo()) {
    if (kind === "Immediate") immediates++;
    else if (kind === "MessagePort") open++;
    else if (!LASTING.has(kind)) return "work";
  }
  if (immediates > underWay.turns) return "immediates";
  underWay.channels = Math.min(underWay.channels, open);
  return open > underWay.channels ? "channel" : undefined;
}

/** Vitest loads modules through another process, on a channel that is always open. */
function importsUnderWay(): number {
  const { __vitest_worker__: worker } = globalThis as {
    __vitest_worker__?: { resolvingModules?: ReadonlySet<string> };
  };
  return worker?.resolvingModules?.size ?? 0;
}
