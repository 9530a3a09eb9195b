// How long Lambda retries an asynchronous invocation of a function.
// https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
import { type App, ownerPath, type Resource, type TemplateProperties, valueIn } from "../app.ts";
import { ageTerm, type Hop, isUnknown, longestOf, type RedeliveryWindow, sumOf } from "./hop.ts";
import { parkedWindow } from "./queues.ts";

const CONFIG = "AWS::Lambda::EventInvokeConfig";

/** Six hours, unless `maxEventAge` is set: throttled events are retried until then, whatever `retryAttempts` is. */
const MAX_EVENT_AGE = 21_600;

/** The longest window of the function, its versions and its aliases. */
export function asynchronousWindow(app: App, fn: Resource): RedeliveryWindow {
  return longestOf(asynchronousConfigs(app, fn).map((config) => windowOf(app, fn, config)));
}

function windowOf(app: App, fn: Resource, config: TemplateProperties): RedeliveryWindow {
  const path = ownerPath(fn);
  return sumOf(
    ageTerm({
      value: valueIn(config, "MaximumEventAgeInSeconds"),
      most: MAX_EVENT_AGE,
      limit: "asynchronous",
      path,
      what: `in the event queue of ${path}`,
    }),
    longestOf([
      parkedWindow(app, valueIn(app.propertiesOf(fn), "DeadLetterConfig", "TargetArn"), path),
      parkedWindow(app, valueIn(config, "DestinationConfig", "OnFailure", "Destination"), path),
    ]),
  );
}

/** The settings of the function, its versions and its aliases; one empty object if there are none. */
export function asynchronousConfigs(app: App, fn: Resource): TemplateProperties[] {
  const configs = app
    .ofType(CONFIG)
    .filter((config) => functionsAt(app, config).includes(fn))
    .map((config) => app.propertiesOf(config));
  return configs.length === 0 ? [{}] : configs;
}

/** The limit of a window that is only presumed from the function's settings. */
export const PRESUMED = "presumed";

export function presumedWindow(app: App, fn: Resource): RedeliveryWindow {
  const window = asynchronousWindow(app, fn);
  return isUnknown(window) ? window : window.map((term) => ({ ...term, limit: PRESUMED }));
}

/**
 * Such settings suggest that something invokes the function asynchronously. That's only presumed, because rule packs require
 * a dead-letter queue even for functions that never are. A function that is a destination is invoked asynchronously too.
 */
export function asynchronousHops(app: App): Hop[] {
  const configured = app.ofType(CONFIG).flatMap((config): Hop[] => {
    const { DestinationConfig } = app.propertiesOf(config);
    return functionsAt(app, config).flatMap((into) => [
      presumed(into),
      ...app.targetsIn(DestinationConfig).map((destination): Hop => {
        return { from: into, into: destination, window: [], isAsynchronous: true };
      }),
    ]);
  });
  const withDeadLetters = app
    .ofType("AWS::Lambda::Function")
    .filter((fn) => valueIn(app.propertiesOf(fn), "DeadLetterConfig") !== undefined);
  return [...configured, ...withDeadLetters.map(presumed)];
}

const presumed = (into: Resource): Hop => ({ into, window: [], isAsynchronous: true, isPresumed: true });

const functionsAt = (app: App, config: Resource) =>
  app.namedIn(app.propertiesOf(config).FunctionName, "lambda", config);
