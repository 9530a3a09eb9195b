/**
 * A run as lines for people: every request with its number, the disturbance marked, repetitions folded. Pure.
 */
import type { TraceEvent } from "../simulator/trace-event.ts";
import type { Play } from "./play.ts";

interface Line {
  readonly at: number;
  readonly invocation: number;
  /** The request's number stands apart, because repetitions differ in it alone. */
  readonly text: string;
  readonly number?: number | undefined;
  readonly isMarked: boolean;
}

const MARK = "◀";
const NUMBER_WIDTH = 4;
const TIME_WIDTH = 11;
/** How many equal lines are shown before the rest is folded. */
const SHOWN = 2;

/** `name` is the explored function; lines of other functions have their names. */
export function traceLines({ trace, ios, answers, source }: Play, name: string): string {
  const numbers = new Map(ios.map((io, index) => [io.number, index + 1]));
  const told = new Map(answers.map(({ invocation, words }) => [invocation, words]));
  const lines = trace.flatMap((event): Line[] => {
    const { at, kind, invocation, io, fault } = event;
    if (invocation === undefined || kind === "source") return [];
    const text =
      kind === "refused"
        ? event.text
        : io === undefined
          ? invocationText(event, source.sender, name, told)
          : ioText(event);
    return [{ at, invocation, text, number: io && numbers.get(io.number), isMarked: fault !== undefined }];
  });
  return foldedBlocks(blocksOf(lines)).join("\n");
}

function ioText({ io, fault, text }: TraceEvent): string {
  const mark = fault === undefined ? "" : `  ${MARK} ${faultWords(fault)}`;
  return `${io?.service} ${io?.operation} ${io?.target}: ${text}${mark}`;
}

function invocationText(
  { hostId, invocation = 0, text }: TraceEvent,
  sender: string,
  name: string,
  told: ReadonlyMap<number, string>,
): string {
  const [functionName] = hostId.split("#");
  const isOther = functionName !== name;
  if (text === "starts") return isOther ? `${functionName} starts` : `${sender} → ${name}`;
  return isOther ? `${functionName} ${text}` : `${sender} ← ${told.get(invocation) ?? text}`;
}

/** The consecutive lines of one invocation. */
function blocksOf(lines: readonly Line[]): Line[][] {
  const blocks: Line[][] = [];
  for (const line of lines) {
    const last = blocks.at(-1);
    if (last !== undefined && last[0]?.invocation === line.invocation) last.push(line);
    else blocks.push([line]);
  }
  return blocks;
}

function foldedBlocks(blocks: readonly Line[][]): string[] {
  const shapeOf = (block: readonly Line[] = []) => block.map(({ text }) => text).join("\n");
  const isFoldable = (block: readonly Line[]) => block.length > 1 && !block.some(({ isMarked }) => isMarked);
  return foldedRuns(blocks, (left, right) => isFoldable(right) && shapeOf(left) === shapeOf(right), {
    show: (block) =>
      foldedRuns(block, (left, right) => left.text === right.text, { show: shown, after: SHOWN }).flat(),
    after: SHOWN,
  }).flat();
}

/** Shows the first `after` of equal neighbours, and says how many more there were. */
function foldedRuns<Thing>(
  things: readonly Thing[],
  areEqual: (left: Thing, right: Thing) => boolean,
  { show, after }: { readonly show: (thing: Thing) => string[]; readonly after: number },
): string[][] {
  const parts: string[][] = [];
  let run = 0;
  const end = () => {
    const folded = run - after;
    if (folded > 0)
      parts.push([
        `${" ".repeat(TIME_WIDTH + NUMBER_WIDTH)} … the same ${folded} more time${folded > 1 ? "s" : ""}`,
      ]);
  };
  for (const [index, thing] of things.entries()) {
    const former = things[index - 1];
    if (former !== undefined && areEqual(former, thing)) run++;
    else {
      end();
      run = 1;
    }
    if (run <= after) parts.push(show(thing));
  }
  end();
  return parts;
}

function shown({ at, number, text }: Line): string[] {
  const time = `${(at / 1000).toFixed(3)} s`.padStart(TIME_WIDTH);
  return [`${time} ${String(number ?? "").padStart(NUMBER_WIDTH)} ${text}`];
}

function faultWords(fault: NonNullable<TraceEvent["fault"]>): string {
  switch (fault.kind) {
    case "crash":
      return "crash";
    case "lost-answer":
      return "its answer is lost";
    case "unsent":
      return "the connection breaks";
    case "unanswered":
      return "no answer ever comes";
    case "throttle":
      return "throttled";
    case "refused":
      return `refused as ${fault.code}`;
    case "refused-entries":
      return `entries refused as ${fault.code}`;
    case "conflict":
      return "transaction conflict";
    case "slow":
      return "its answer comes too late";
    case "freeze":
      return `the function stands still for ${Math.round(fault.ms / 1000)} s`;
    case "stale":
      return "reads the version before";
  }
}
