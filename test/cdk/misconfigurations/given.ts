// One misconfiguration of an app, and what a synthesis says of it. docs/reference/misconfigurations.md is made of all of them.
import { Duration, type Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import type { FunctionOptions, Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import {
  IdempotencyTable,
  type IIdempotencyTable,
  UseIdempotency,
  type UseIdempotencyOptions,
} from "onceonly/cdk";
import { unitStack } from "../app-given.ts";
import { aFunction } from "../given.ts";

export type Verdict = "refused" | "refused by CDK" | "warned" | "noted" | "accepted";

/** Builds the app in a stack `Test` of eu-west-1. */
type Make = (stack: Stack) => unknown;

export interface Misconfiguration {
  readonly wrong: string;
  readonly verdict: Verdict;
  /** A part of the error, or the id of the warning or the note, or why it is accepted. */
  readonly by: string;
  readonly make: Make;
  /** What begins the title of its test: an item, or a hazard. */
  readonly item?: string;
}

/** Rows with an item of their own. */
export const ofItem = (item: string, cases: readonly Misconfiguration[]): readonly Misconfiguration[] =>
  cases.map((each) => ({ ...each, item }));

const as = (verdict: Verdict) => (wrong: string, by: string, make: Make) => ({ wrong, verdict, by, make });

export const refused = as("refused");
export const refusedByCdk = as("refused by CDK");
export const warned = as("warned");
export const noted = as("noted");
export const accepted = as("accepted");

export const ENV = { account: "111111111111", region: "eu-west-1" };

interface Given extends UseIdempotencyOptions {
  readonly id?: string;
  readonly fn?: FunctionOptions;
  readonly table?: IIdempotencyTable;
}

/** A function that runs the operation of its name, by default for 60 days and 3 seconds. */
export function runner(stack: Stack, { id = "Fn", fn, table, ...options }: Given = {}): LambdaFunction {
  const made = aFunction(stack, id, fn);
  const records = table ?? new IdempotencyTable(stack, `${id}Table`);
  made.with(new UseIdempotency(records, { operations: [id], retention: Duration.days(60), ...options }));
  return made;
}

export const tableIn = (stack: Stack, props = {}) => new IdempotencyTable(stack, "Table", props);

export interface Said {
  readonly verdict: "refused" | "warned" | "noted" | "nothing";
  /** The error, or the ids of warnings and notes. */
  readonly texts: readonly string[];
}

export function saidOf(make: Make): Said {
  const stack = unitStack({ env: ENV });
  try {
    make(stack);
    Template.fromStack(stack);
  } catch (error) {
    return { verdict: "refused", texts: [(error as Error).message] };
  }
  const [warnings, notes] = [idsOf(stack, "aws:cdk:warning"), idsOf(stack, "aws:cdk:info")];
  if (warnings.length > 0) return { verdict: "warned", texts: [...warnings, ...notes] };
  return notes.length > 0 ? { verdict: "noted", texts: notes } : { verdict: "nothing", texts: [] };
}

function idsOf({ node }: Stack, type: string): string[] {
  const texts = node.root.node
    .findAll()
    .flatMap((each) => each.node.metadata)
    .filter((entry) => entry.type === type)
    .map(({ data }) => /\[ack: (onceonly:[\w-]+)\]$/.exec(String(data))?.[1]);
  return [...new Set(texts.filter((id) => id !== undefined))];
}
