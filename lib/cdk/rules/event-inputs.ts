// Whether an event still has an id after a rule, a schedule or a pipe has transformed it into another input. No I/O.
import {
  type App,
  objectIn,
  ownerPath,
  type Report,
  type Resource,
  type TemplateProperties,
  valueIn,
} from "./app.ts";
import { flatText } from "./named.ts";

/** The input that a source creates. */
interface Input {
  readonly source: string;
  /** The parts of the event that it contains, as paths. */
  readonly paths: readonly string[];
  /** The part that would identify the event. */
  readonly name: string;
}

/** Checks inputs for the function and for the queues that it consumes. */
export function findInputs(app: App, fn: Resource, queues: readonly Resource[], report: Report): void {
  const leadsIn = (part: unknown) => app.targetsIn(part).some((each) => each === fn || queues.includes(each));
  const inputs = [...ofRules(app, leadsIn), ...ofSchedules(app, leadsIn), ...ofPipes(app, leadsIn)];
  for (const { source, paths, name } of inputs) {
    if (paths.some((path) => path === name || NAMES.test(path))) continue;
    const parts = paths.join(", ");
    if (paths.some((path) => MAY_NAME.test(path))) {
      report(
        "noted",
        "event-id-unknown",
        fn,
        `can't check whether what ${source} passes on identifies the event: it leaves out ${name}, so the key must come from ${parts}`,
      );
    } else {
      report(
        "warned",
        "dropped-event-id",
        fn,
        paths.length === 0
          ? `${source} sends the same input each time, so no key can be derived from it: either every event is refused, or only the first one runs. Add ${name} to the input, or acknowledge this if it should run only once`
          : `${source} passes on ${parts} but not ${name}, so no key can be derived from it. Add ${name} to the input, or acknowledge this if the rest identifies the event`,
      );
    }
  }
}

type LeadsIn = (part: unknown) => boolean;

function ofRules(app: App, leadsIn: LeadsIn): Input[] {
  return app.ofType("AWS::Events::Rule").flatMap((rule) => {
    const { Targets, ScheduleExpression } = app.propertiesOf(rule);
    const targets = Array.isArray(Targets) ? (Targets as TemplateProperties[]) : [];
    const source = `the rule ${ownerPath(rule)}`;
    const name = ScheduleExpression === undefined ? "$.id" : "$.time";
    return targets
      .filter(({ Arn }) => leadsIn(Arn))
      .flatMap((target) => pathsOfTarget(target) ?? [])
      .map((paths): Input => ({ source, paths, name }));
  });
}

/** The paths as a list, or `undefined` for a target that gets the whole event. */
function pathsOfTarget({ Input, InputPath, InputTransformer }: TemplateProperties): string[][] | undefined {
  if (Input !== undefined) return [[]];
  if (InputPath !== undefined) return [[`${InputPath}`]];
  if (InputTransformer === undefined) return undefined;
  const { InputPathsMap, InputTemplate } = objectIn(InputTransformer);
  const text = flatText(InputTemplate);
  if (/<aws\.events\.event(\.json)?>/.test(text)) return undefined;
  const used = Object.entries(objectIn(InputPathsMap)).filter(([name]) => text.includes(`<${name}>`));
  return [used.map(([, path]) => `${path}`)];
}

/** The context attributes that differ in each run. https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html */
const OF_ONE_RUN = /<aws\.scheduler\.(scheduled-time|execution-id)>/;

function ofSchedules(app: App, leadsIn: LeadsIn): Input[] {
  return app.ofType("AWS::Scheduler::Schedule").flatMap((schedule): Input[] => {
    const { ScheduleExpression, Target } = app.propertiesOf(schedule);
    const { Arn, Input } = objectIn(Target);
    // A one-time schedule runs once.
    const isOnce = /^at\(/.test(`${ScheduleExpression}`);
    if (!leadsIn(Arn) || Input === undefined || isOnce || OF_ONE_RUN.test(flatText(Input))) return [];
    const source = `the schedule ${ownerPath(schedule)}`;
    return [{ source, paths: [], name: "<aws.scheduler.scheduled-time>" }];
  });
}

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-input-transformation.html */
function ofPipes(app: App, leadsIn: LeadsIn): Input[] {
  return app.ofType("AWS::Pipes::Pipe").flatMap((pipe): Input[] => {
    const { Target, TargetParameters } = app.propertiesOf(pipe);
    const template = valueIn(objectIn(TargetParameters), "InputTemplate");
    const text = flatText(template);
    if (!leadsIn(Target) || template === undefined || /<aws\.pipes\.event(\.json)?>/.test(text)) return [];
    const paths = [...text.matchAll(/<(\$[^>]*)>/g)].map(([, path = ""]) => path);
    return [{ source: `the pipe ${ownerPath(pipe)}`, paths, name: "the id of its record" }];
  });
}

/** The whole event or record, or a part that looks like an identifier: `$.detail.orderId`. */
const NAMES = /^\$$|[._-](id|key|number|uuid|arn)$|[a-z\d](Id|ID|Key|Number|Uuid|Arn)$/;

/** An object that may contain an identifier. */
const MAY_NAME = /^\$\.(detail|body|data|dynamodb(\.(Keys|NewImage))?|messageAttributes)$/;
