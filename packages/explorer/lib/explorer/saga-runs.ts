/** What a run's requests reveal about its steps and sagas. Pure. */
import { TURNED_BACK } from "onceonly/kit";
import type { Io } from "../simulator/io.ts";
import { placeWithoutIds } from "./outside.ts";

/** How one handler produces several effects. */
export type Structure = "none" | "steps" | "saga";

/** A step that a request writes. */
interface WrittenStep {
  readonly name: string;
  readonly result: unknown;
  /** The index of its request in the run. */
  readonly index: number;
}

interface StepWrite {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
  readonly TransactItems?: readonly Readonly<Record<string, StepWrite>>[];
}

/** In the record the mark of a saga that has turned back ends so; the steps of a user have one `/` at most. */
const TURNED_BACK_MARK = `/${TURNED_BACK}`;

/** Names the saga that has turned back in this run, its step that failed, and how much is to be undone. */
export function turnedBackIn(ios: readonly Io[]): string | undefined {
  const mark = markIn(ios);
  return mark && `${mark.name} ${JSON.stringify(mark.result)}`;
}

export function structureIn(ios: readonly Io[]): Structure {
  const names = stepsIn(ios).map(({ name }) => name);
  if (names.length === 0) return "none";
  return names.some((name) => name.includes("/")) ? "saga" : "steps";
}

/** The calls with which a saga undid its work: "POST https://payments.example/refunds". */
export function undoingPlaces(ios: readonly Io[]): ReadonlySet<string> {
  const from = markIn(ios)?.index ?? Number.POSITIVE_INFINITY;
  return new Set(ios.slice(from).map(({ operation, target }) => `${operation} ${placeWithoutIds(target)}`));
}

function markIn(ios: readonly Io[]): WrittenStep | undefined {
  return stepsIn(ios).find(({ name }) => name.endsWith(TURNED_BACK_MARK));
}

function stepsIn(ios: readonly Io[]): WrittenStep[] {
  return ios.flatMap(({ service, input }, index) => {
    if (service !== "dynamodb") return [];
    const { TransactItems = [], ...alone } = input as StepWrite;
    return [alone, ...TransactItems.flatMap((item) => Object.values(item))].flatMap((write) =>
      Object.entries(stepOf(write)).map(([name, step]) => {
        const { M } = Object(step) as { readonly M?: { readonly result?: unknown } };
        return { name, result: M?.result, index };
      }),
    );
  });
}

/** The first step of a record makes the map of all; each other one is named by `#name`. */
function stepOf({ ExpressionAttributeNames, ExpressionAttributeValues }: StepWrite): Record<string, unknown> {
  const values = ExpressionAttributeValues ?? {};
  const name = ExpressionAttributeNames?.["#name"];
  if (name !== undefined && ":step" in values) return { [name]: values[":step"] };
  return (Object(values[":steps"]) as { readonly M?: Record<string, unknown> }).M ?? {};
}
