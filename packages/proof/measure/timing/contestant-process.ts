// The process of one contestant. As a function does, it reads the place of DynamoDB and the credentials from the
// environment.
import { isDeepStrictEqual } from "node:util";
import { answerParent } from "../../helper-process.ts";
import type { LambdaHandler } from "../contestants/lambda-call.ts";
import { answering } from "../contestants/world.ts";
import { type Contestant, GROUPS, type GroupName, type Tables } from "./contestants.ts";
import { type Callers, type Kind, type Sample, takeTurn } from "./turn.ts";

export interface Setup {
  readonly group: GroupName;
  readonly name: string;
  readonly tables: Tables;
}

export interface Question {
  readonly kind: Kind;
  readonly calls: number;
  readonly callers: Callers;
}

/** What it did; its parent checks that nothing was left out. */
export interface Report extends Sample {
  readonly handlerRuns: number;
  /** Replays that were not the answer of the first run. */
  readonly otherAnswers: number;
}

const { group, name, tables } = JSON.parse(String(process.argv[2])) as Setup;
const { deploy, handler: makeHandler } = GROUPS[group][name] as Contestant;
const handler = makeHandler?.(tables) ?? answering();
let handlerRuns = 0;
const prepare = deploy(tables)(((event, context) => {
  handlerRuns++;
  return handler(event, context);
}) as LambdaHandler);

/** By its key; each is called once more for its replay. */
let firstAnswers: ReadonlyMap<string, unknown> = new Map();

answerParent(async ({ kind, calls, callers }: Question): Promise<Report> => {
  const keys =
    kind === "firstRun" ? Array.from({ length: calls }, () => crypto.randomUUID()) : [...firstAnswers.keys()];
  handlerRuns = 0;
  const { sample, answers } = await takeTurn(prepare, keys, callers);
  const isOther = (key: string) =>
    !isDeepStrictEqual(resultIn(answers.get(key)), resultIn(firstAnswers.get(key)));
  const otherAnswers = kind === "firstRun" ? 0 : keys.filter(isOther).length;
  if (kind === "firstRun") firstAnswers = answers;
  return { ...sample, handlerRuns, otherAnswers };
});

/** A replay over HTTP is marked by a header. */
function resultIn(answer: unknown): unknown {
  return (answer as { body?: unknown }).body ?? answer;
}
