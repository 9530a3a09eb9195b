/** A run as steps: the caller, the target and the response; the disturbance marked, repetitions folded. Pure. */
import type { Fault } from "../simulator/fault.ts";
import type { Io } from "../simulator/io.ts";
import type { TraceEvent } from "../simulator/trace-event.ts";
import type { Source, SourceAnswer } from "./source.ts";

/** The parts of a run that its steps are made of. */
export interface TracedRun {
  readonly source: Source;
  readonly ios: readonly Io[];
  /** All answers, in order: to the source's own deliveries, to a duplicate, to the repetition afterwards. */
  readonly answers: readonly SourceAnswer[];
  readonly trace: readonly TraceEvent[];
}

/** One line of a run, as text and as an arrow of a diagram. */
export interface TraceStep {
  /** Milliseconds since the run began. */
  readonly at: number;
  /** The line of the trace, without its time. */
  readonly text: string;
  /** "create-order", or the sender */
  readonly from: string;
  /** "dynamodb orders", another function, or the sender. The same as `from` if no one else takes part. */
  readonly to: string;
  /** The arrow's label: "PutItem: ok" */
  readonly label: string;
  /** The number of the request in the undisturbed run. */
  readonly point?: number | undefined;
  /** The disturbance, if it hit this request: "crash". */
  readonly disturbance?: string | undefined;
}

/** How many steps were left out because they repeat the ones before. */
export interface FoldedSteps {
  readonly more: number;
}

interface Line extends TraceStep {
  readonly invocation: number;
}

const MARK = "◀";
/** How many equal lines are shown before the rest is folded. */
const SHOWN = 2;

/**
 * @param name the explored function; lines of other functions have their own names
 * @param shown the explored function's name in the lines
 */
export function traceSteps(
  { trace, ios, answers, source }: TracedRun,
  name: string,
  shown: string,
): readonly (TraceStep | FoldedSteps)[] {
  const numbers = new Map(ios.map((io, index) => [io.number, index + 1]));
  const answerTexts = new Map(answers.map(({ invocation, words }) => [invocation, words]));
  const lines = trace.flatMap((event): Line[] => {
    const { at, kind, invocation, hostId, io, fault } = event;
    if (invocation === undefined || kind === "source") return [];
    const [host = ""] = hostId.split("#");
    const from = host === name ? shown : host;
    if (kind === "refused") return [{ at, invocation, text: event.text, from, to: from, label: event.text }];
    if (io === undefined)
      return [{ at, invocation, ...arrowOf(event, from, source.sender, shown, answerTexts) }];
    const { service, operation, target } = io;
    const disturbance = fault && faultWords(fault);
    const mark = disturbance === undefined ? "" : `  ${MARK} ${disturbance}`;
    const text = `${service} ${operation} ${target}: ${event.text}${mark}`;
    const label = `${operation}: ${event.text}`;
    const point = numbers.get(io.number);
    return [{ at, invocation, text, from, to: `${service} ${target}`, label, point, disturbance }];
  });
  return foldedBlocks(blocksOf(lines));
}

function arrowOf(
  { invocation = 0, text }: TraceEvent,
  from: string,
  sender: string,
  name: string,
  answerTexts: ReadonlyMap<number, string>,
): Omit<TraceStep, "at"> {
  if (from !== name) return { text: `${from} ${text}`, from, to: from, label: text };
  if (text === "starts") return { text: `${sender} → ${name}`, from: sender, to: name, label: "event" };
  const answer = answerTexts.get(invocation) ?? text;
  return { text: `${sender} ← ${answer}`, from: name, to: sender, label: answer };
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

function foldedBlocks(blocks: readonly Line[][]): (Line | FoldedSteps)[] {
  const shapeOf = (block: readonly Line[] = []) => block.map(({ text }) => text).join("\n");
  const isFoldable = (block: readonly Line[]) =>
    block.length > 1 && block.every(({ disturbance }) => disturbance === undefined);
  return foldedRuns(
    blocks,
    (left, right) => isFoldable(right) && shapeOf(left) === shapeOf(right),
    (block) =>
      foldedRuns(
        block,
        (left, right) => left.text === right.text,
        (line) => [line],
      ),
  );
}

/** Shows the first of equal neighbours, with the number of further ones. */
function foldedRuns<Thing>(
  things: readonly Thing[],
  areEqual: (left: Thing, right: Thing) => boolean,
  show: (thing: Thing) => (Line | FoldedSteps)[],
): (Line | FoldedSteps)[] {
  const parts: (Line | FoldedSteps)[] = [];
  let run = 0;
  const end = () => {
    if (run > SHOWN) parts.push({ more: run - SHOWN });
  };
  for (const [index, thing] of things.entries()) {
    const former = things[index - 1];
    if (former !== undefined && areEqual(former, thing)) run++;
    else {
      end();
      run = 1;
    }
    if (run <= SHOWN) parts.push(...show(thing));
  }
  end();
  return parts;
}

function faultWords(fault: Fault): string {
  switch (fault.kind) {
    case "crash":
      return "crash";
    case "lost-answer":
      return "its response is lost";
    case "unsent":
      return "the connection breaks";
    case "unanswered":
      return "no response ever arrives";
    case "throttle":
      return "throttled";
    case "refused":
      return `rejected with ${fault.code}`;
    case "refused-entries":
      return `entries rejected with ${fault.code}`;
    case "conflict":
      return "transaction conflict";
    case "slow":
      return "its response arrives too late";
    case "freeze":
      return `the function is frozen for ${Math.round(fault.ms / 1000)} s`;
    case "stale":
      return "reads the previous version";
  }
}
