import { App, type Duration, Stack } from "aws-cdk-lib";
import { Annotations, Match } from "aws-cdk-lib/assertions";
import { Code, Function as LambdaFunction, Runtime } from "aws-cdk-lib/aws-lambda";
import { IdempotencyTable, Reconciler } from "onceonly/cdk";
import { fakeClock, MemoryStore } from "onceonly/testing";
import { runOnce } from "../../../lib/index.ts";
import { type ReconcilerOptions, reconciler } from "../../../lib/reconciler/index.ts";
import type { Mistake } from "../given.ts";
import { logOf, messageOf } from "../given.ts";

const given = { store: new MemoryStore(), operations: { charge: "hold" } } as const;

const refused = (more: object) => messageOf(() => reconciler({ ...given, ...more } as ReconcilerOptions));

/** What a run of the reconciler prints about an abandoned key of the operation `charge`. */
async function printed(operations: object): Promise<string> {
  const clock = fakeClock();
  const store = new MemoryStore();
  const engine = { operation: "charge", store, clock, leaseSeconds: 30, renewLease: false } as const;
  void runOnce({ ...engine, whenAbandoned: "hold" }, "order-1", {}, () => new Promise(() => {}));
  await clock.advance(120_000);
  const handler = reconciler({ store, clock, operations } as ReconcilerOptions);
  return logOf("error", () => clock.run(handler()));
}

function stackWith(unknownOutcomes: boolean, timeout?: Duration): Stack {
  const stack = new Stack(
    new App({ builtinCloudFormationValidation: false, analyticsReporting: false }),
    "Shop",
  );
  const table = new IdempotencyTable(stack, "Records", { unknownOutcomes });
  const code = Code.fromInline("exports.handler = () => {}");
  const runtime = Runtime.NODEJS_24_X;
  const handler = new LambdaFunction(stack, "Settle", { runtime, code, handler: "index.handler", timeout });
  new Reconciler(stack, "Reconciler", { table, handler });
  return stack;
}

/** Keys of unknown outcome that a schedule was to settle, and that it would leave as they are. */
export const RECONCILER_MISTAKES: readonly Mistake[] = [
  {
    made: "passes the reconciler no operations",
    reportedBy: "error",
    text: "for each operation name (got undefined)",
    make: () => refused({ operations: undefined }),
  },
  {
    made: "passes the reconciler an array of operations",
    reportedBy: "error",
    text: "for each operation name (got an array of 1 item)",
    make: () => refused({ operations: ["charge"] }),
  },
  {
    made: 'sets a reconciler\'s operation to `"run"`',
    reportedBy: "error",
    text: '`operations.charge` must be a function, "hold", or { verify, steps } (got a string of 3 characters)',
    make: () => refused({ operations: { charge: "run" } }),
  },
  {
    made: "passes the reconciler one function for all steps of an operation",
    reportedBy: "error",
    text: "`steps` must be an object with a function for each step name",
    make: () => refused({ operations: { charge: { steps: () => ({ outcome: "unknown" }) } } }),
  },
  {
    made: "uses the handler's option name `whenAbandoned` in the reconciler",
    reportedBy: "error",
    text: "`whenAbandoned` isn't an option (valid options: verify, steps)",
    make: () => refused({ operations: { charge: { whenAbandoned: "hold" } } }),
  },
  {
    made: "leaves an operation's name empty in the reconciler",
    reportedBy: "error",
    text: "`operations` has an invalid operation name: it must be a string of 1 to 64 characters (got an empty string)",
    make: () => refused({ operations: { "": "hold" } }),
  },
  {
    made: "passes the reconciler a store that can't list unknown outcomes",
    reportedBy: "error",
    text: "`store` must be an object with the methods claim, settle, find, unknownOutcomes",
    make: () => refused({ store: Object.assign(new MemoryStore(), { unknownOutcomes: undefined }) }),
  },
  {
    made: "gives the reconciler's minimum age in milliseconds",
    reportedBy: "error",
    text: "`minAgeSeconds` must be a number of seconds between 1 and 86400 (got 3600000; did you mean 3600?)",
    make: () => refused({ minAgeSeconds: 3_600_000 }),
  },
  {
    made: "sets the reconciler's concurrency too high",
    reportedBy: "error",
    text: "`concurrency` must be a whole number between 1 and 100 (got 1000)",
    make: () => refused({ concurrency: 1000 }),
  },
  {
    made: "omits or misspells an operation in the reconciler's `operations`",
    reportedBy: "log",
    text: "is unasked: add its operation to `operations` of the reconciler",
    make: () => printed({ Charge: "hold" }),
  },
  {
    made: "returns `true` to the reconciler",
    reportedBy: "log",
    text: 'is unknown: `operations.charge` must return { outcome: "happened", result }, { outcome: "did-not-happen" } or { outcome: "unknown" } (got true)',
    make: () => printed({ charge: () => true }),
  },
  {
    made: "reads the payload in the reconciler's `verify`",
    reportedBy: "type",
    text: "Property 'input' does not exist on type 'AbandonedRecord'",
    make: () =>
      reconciler({
        ...given,
        // @ts-expect-error a record holds no payload
        operations: { charge: ({ input }) => (input ? { outcome: "unknown" } : { outcome: "unknown" }) },
      }),
  },
  {
    made: "passes `Reconciler` a table that doesn't list unknown outcomes",
    reportedBy: "synthesis",
    text: "unknownOutcomes of Shop/Records is off, so unknown outcomes can't be listed: set it to true",
    make: () => messageOf(() => stackWith(false)),
  },
  {
    made: "leaves a `Reconciler`'s function at Lambda's default timeout of 3 seconds",
    reportedBy: "synthesis",
    text: "the timeout of Shop/Settle is 3 s, which leaves verify 1.5 s to answer instead of 10 s: make it 20 s or more",
    make: () => Annotations.fromStack(stackWith(true)).findWarning("*", Match.anyValue())[0]?.entry.data,
  },
];
