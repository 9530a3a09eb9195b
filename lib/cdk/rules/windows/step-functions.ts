// How long a state machine can rerun a task.
import { type App, objectIn, ownerPath, type Resource, type TemplateProperties, valueIn } from "../app.ts";
import { type Hop, numberIn, type RedeliveryWindow, sumOf, type Term } from "./hop.ts";

/** Standard workflows only. https://docs.aws.amazon.com/step-functions/latest/dg/redrive-executions.html */
const REDRIVE_SECONDS = 14 * 86_400;

/** The longest that a task can wait for its token. https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
const YEAR_SECONDS = 31_536_000;

/** https://docs.aws.amazon.com/lambda/latest/dg/configuration-timeout.html */
const DEFAULT_TIMEOUT = 3;

export function taskHops(app: App): Hop[] {
  return app.ofType("AWS::StepFunctions::StateMachine").flatMap((machine) => {
    const { DefinitionString, Definition, DefinitionSubstitutions, StateMachineType } =
      app.propertiesOf(machine);
    const path = ownerPath(machine);
    const definition = Definition ?? parsed(DefinitionString);
    if (definition === undefined) {
      const window = { unknown: `the definition of ${path} can't be read at synthesis` };
      const into = app.targetsIn([DefinitionSubstitutions, DefinitionString]);
      return into.map((each): Hop => ({ from: machine, into: each, window }));
    }
    const redrive: Term[] =
      StateMachineType === "EXPRESS"
        ? []
        : [
            {
              seconds: REDRIVE_SECONDS,
              text: `${REDRIVE_SECONDS} s for redrives of ${path}`,
              limit: "step-functions",
            },
          ];
    return tasksIn(definition).flatMap((task) =>
      app.targetsIn(task).map((into): Hop => {
        const window = sumOf(retryWindow(app, task, into, path), redrive);
        return { from: machine, into, window, isAsynchronous: isAsynchronous(task) };
      }),
    );
  });
}

/** A task's retrier that matches the error that a function throws while its key is in progress. */
export interface TaskRetrier {
  readonly path: string;
  readonly into: readonly Resource[];
  readonly retries: number;
  /** The sum of the pauses between all retries. */
  readonly pauseSeconds: number;
}

/** Functions throw errors with their own names. The other errors that CDK retries by default come from the Lambda service. */
const TAKES_ERRORS_OF_FUNCTIONS = new Set(["States.ALL", "States.TaskFailed", "ExecutionInProgressError"]);

/** The tasks that wait for the function's response. A task with a token doesn't. */
export function answeredTasks(app: App): { machine: Resource; task: TemplateProperties }[] {
  return app.ofType("AWS::StepFunctions::StateMachine").flatMap((machine) => {
    const { DefinitionString, Definition } = app.propertiesOf(machine);
    return tasksIn(Definition ?? parsed(DefinitionString))
      .filter((task) => !isAsynchronous(task) && !/waitForTaskToken/.test(JSON.stringify(task.Resource)))
      .map((task) => ({ machine, task }));
  });
}

/** The retriers of tasks that wait for the function's response. */
export function retriersOf(app: App): TaskRetrier[] {
  return answeredTasks(app).flatMap(({ machine, task }) => {
    const retriers = Array.isArray(task.Retry) ? (task.Retry as TemplateProperties[]) : [];
    return retriers
      .filter(({ ErrorEquals }) =>
        [ErrorEquals].flat().some((name) => TAKES_ERRORS_OF_FUNCTIONS.has(`${name}`)),
      )
      .map((retrier) => ({
        path: ownerPath(machine),
        into: app.targetsIn(task),
        retries: numberIn(retrier.MaxAttempts) ?? 3,
        // Full jitter picks each pause at random, down to 0.
        pauseSeconds: retrier.JitterStrategy === "FULL" ? 0 : pausesOf(retrier),
      }));
  });
}

/** The pauses of all retriers, plus the duration of the tries. */
function retryWindow(app: App, task: TemplateProperties, target: Resource, path: string): RedeliveryWindow {
  const { Retry, Resource, TimeoutSeconds } = task;
  const retriers = Array.isArray(Retry) ? (Retry as TemplateProperties[]) : [];
  const tries = retriers.reduce((sum, { MaxAttempts }) => sum + (numberIn(MaxAttempts) ?? 3), 0);
  const pauses = Math.ceil(retriers.reduce((sum, retrier) => sum + pausesOf(retrier), 0));
  if (tries === 0) return [];
  const waits = /waitForTaskToken/.test(JSON.stringify(Resource));
  const timeout = numberIn(waits ? TimeoutSeconds : valueIn(app.propertiesOf(target), "Timeout"));
  const each = timeout ?? (waits ? YEAR_SECONDS : DEFAULT_TIMEOUT);
  if (Number.isNaN(each) || Number.isNaN(tries) || Number.isNaN(pauses)) {
    return { unknown: `a number of a task in ${path} is only known at deployment` };
  }
  return [
    { seconds: pauses, text: `${pauses} s between the retries of ${path}` },
    {
      seconds: each * tries,
      text: `timeout ${each} s × ${tries} retries`,
      ...(waits && timeout === undefined && { limit: "step-functions" }),
    },
  ];
}

/** https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html */
function pausesOf({
  IntervalSeconds,
  MaxAttempts,
  BackoffRate,
  MaxDelaySeconds,
}: TemplateProperties): number {
  const longest = numberIn(MaxDelaySeconds) ?? YEAR_SECONDS;
  const rate = numberIn(BackoffRate) ?? 2;
  const attempts = numberIn(MaxAttempts) ?? 3;
  let pause = numberIn(IntervalSeconds) ?? 1;
  let sum = 0;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (!(pause < longest) || rate === 1) return sum + Math.min(pause, longest) * (attempts - attempt);
    sum += pause;
    pause *= rate;
  }
  return sum;
}

function isAsynchronous({ Parameters, Arguments }: TemplateProperties): boolean {
  return valueIn(objectIn(Parameters ?? Arguments), "InvocationType") === "Event";
}

function tasksIn(definition: unknown): TemplateProperties[] {
  const { States } = objectIn(definition);
  return Object.values(objectIn(States)).flatMap((each) => {
    const state = objectIn(each);
    const { Type, Branches, Iterator: iterator, ItemProcessor } = state;
    if (Type === "Task") return [state];
    const inner = Array.isArray(Branches) ? (Branches as unknown[]) : [iterator ?? ItemProcessor];
    return inner.flatMap(tasksIn);
  });
}

function parsed(definition: unknown): unknown {
  try {
    return JSON.parse(textOf(definition));
  } catch {
    return undefined;
  }
}

/** The text of a joined value, with references kept as marks. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  const { "Fn::Join": joined, Ref } = objectIn(value);
  if (!Array.isArray(joined)) return typeof Ref === "string" ? Ref : "?";
  const [separator, parts] = joined as [string, readonly unknown[]];
  return parts.map(textOf).join(separator);
}
