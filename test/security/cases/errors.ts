// What handlers throw: it is theirs, first and replayed, whatever it claims to be.
import { httpIdempotent, idempotent, idempotentBatch, PermanentError, runOnce } from "onceonly";
import { PROBLEM_STATUSES } from "../../../lib/lambda/http/problem.ts";
import { answered, sqsRecord } from "../../lambda/batch/given.ts";
import { given } from "../../lambda/given.ts";
import { v2Event } from "../../lambda/http/given.ts";
import { hold, type Suite } from "../world.ts";
import { ODD_OTHERS, ODD_TEXTS } from "./odd-values.ts";

type Given = ReturnType<typeof given>;
interface HostileError {
  readonly way: keyof typeof WAYS;
  readonly name: string;
  readonly make: () => unknown;
  readonly isFinal: boolean;
}

const BRAND = Symbol.for("onceonly.error");
const CODES = [
  ...Object.keys(PROBLEM_STATUSES),
  "INVALID_OPTION",
  "TRANSACTION_CONDITION",
  "COMMIT_INVALID",
  "PERMANENT",
  "CLAIM_LOST",
];
const permanent = (change: object) => Object.assign(new PermanentError("no"), change);
const throwing = () => {
  throw new Error("a getter");
};

/** Errors that pass for ours, and errors of odd make. */
const THROWN: readonly Omit<HostileError, "way">[] = [
  ...CODES.flatMap((code) => [
    {
      name: `a plain error with the code ${code}`,
      make: () => Object.assign(new Error("no"), { code, retryable: true, statusCode: 200 }),
      isFinal: false,
    },
    {
      name: `a branded error with the code ${code}`,
      make: () => Object.assign(new Error("no"), { code, [BRAND]: true, keyHash: "x", leaseExpiresAt: 1 }),
      isFinal: code === "PERMANENT",
    },
    {
      name: `a permanent error with the code ${code}`,
      make: () => permanent({ code, statusCode: 200, isOurs: true }),
      isFinal: true,
    },
  ]),
  ...ODD_OTHERS.map((value, index) => ({ name: `odd value ${index}`, make: () => value, isFinal: false })),
  ...ODD_OTHERS.map((message, index) => ({
    name: `a permanent error with odd message ${index}`,
    make: () => permanent({ message }),
    isFinal: true,
  })),
  ...ODD_OTHERS.map((code, index) => ({
    name: `a permanent error with odd code ${index}`,
    make: () => permanent({ code }),
    isFinal: true,
  })),
  ...ODD_TEXTS.filter((text) => text.length < 1000).map((text, index) => ({
    name: `a permanent error with odd text ${index}`,
    make: () => permanent({ message: text, name: text, code: text }),
    isFinal: true,
  })),
  {
    name: "a proxy that throws",
    make: () => new Proxy(new Error("no"), { get: throwing, has: () => false }),
    isFinal: false,
  },
  { name: "a frozen permanent error", make: () => Object.freeze(permanent({})), isFinal: true },
  {
    name: "an error with getters that throw",
    make: () =>
      Object.defineProperties(new Error("no"), { code: { get: throwing }, name: { get: throwing } }),
    isFinal: false,
  },
  {
    name: "an error that holds itself",
    make: () => {
      const error: Error & { self?: unknown } = new Error("no");
      error.self = error;
      error.cause = error;
      return error;
    },
    isFinal: false,
  },
  {
    name: "a permanent error of 4 MB",
    make: () => permanent({ message: "x".repeat(4_000_000) }),
    isFinal: true,
  },
];

/** What a caller gets: the thrown value, or an answer. */
const caught = (call: Promise<unknown>) =>
  call.then(
    (answer) => ({ answer, thrown: undefined }),
    (thrown: unknown) => ({ answer: undefined, thrown }),
  );

const WAYS = {
  runOnce: ({ options }: Given, work: () => Promise<never>) =>
    caught(runOnce({ ...options, leaseSeconds: 30 }, "k", {}, work)),
  idempotent: ({ options, context }: Given, work: () => Promise<never>) =>
    caught(idempotent(work, { ...options, key: () => "k" })({}, context())),
  httpIdempotent: ({ options, context }: Given, work: () => Promise<never>) =>
    caught(
      httpIdempotent(work, { ...options, scope: "public" })(
        v2Event({ headers: { "Idempotency-Key": "k" } }),
        context(),
      ),
    ),
  idempotentBatch: ({ options, context }: Given, work: () => Promise<never>) =>
    caught(
      (async () => {
        const errors: unknown[] = [];
        const handler = idempotentBatch(work, {
          ...options,
          onRecordError: (error) => void errors.push(error),
        });
        const { batchItemFailures } = await answered(handler({ Records: [sqsRecord("m1")] }, context()));
        hold(batchItemFailures.length === 1, "a failed record was acknowledged");
        throw errors[0];
      })(),
    ),
};

export const errors: Suite<HostileError> = {
  title: "errors",
  what: "thrown values with each of our codes, branded, permanent, frozen, with getters that throw, with messages, names and codes of every odd kind, 4 MB long",
  promise:
    "rethrown unchanged; recorded once if they're final, and then replayed; never one of our answers, and never an acknowledged message",
  inputs: () =>
    Object.keys(WAYS).flatMap((way) => THROWN.map((each) => ({ ...each, way: way as keyof typeof WAYS }))),
  async judge({ way, make, isFinal }): Promise<"accepted"> {
    const base = given();
    const made: unknown[] = [];
    const work = async (): Promise<never> => {
      const error = make();
      made.push(error);
      throw error;
    };
    const [first, again] = [await WAYS[way](base, work), await WAYS[way](base, work)];
    hold(first.answer === undefined && again.answer === undefined, "answered instead of thrown");
    hold(Object.is(first.thrown, made[0]), "something else was thrown");
    hold(made.length === (isFinal ? 1 : 2), `ran ${made.length} times`);
    const [state] = base.states();
    hold(state === (isFinal ? "failed" : "released"), `the record is ${state}`);
    if (isFinal) hold(again.thrown instanceof PermanentError, "the replay is no PermanentError");
    return "accepted";
  },
};
