/** Reads the steps of a record. */
import type { StoredResult, StoredStep, StoredSteps } from "../core/record.ts";
import { resultAddressOf } from "../core/result-address.ts";

/** `undefined` if they can't be read. */
export function readSteps(recordKey: string, json: unknown): StoredSteps | undefined {
  if (typeof json !== "object" || json === null) return undefined;
  const steps = Object.entries(json).map(
    ([name, step]) => [name, readStep(recordKey, Object(step))] as const,
  );
  if (steps.some(([, step]) => step === undefined)) return undefined;
  return Object.fromEntries(steps) as StoredSteps;
}

function readStep(
  recordKey: string,
  { state, attempt, at, tracked, next, undo, undoNext, ...fields }: Readonly<Record<string, unknown>>,
): StoredStep | undefined {
  const isKnown = state === "begun" || state === "done" || state === "undone";
  if (!isKnown || typeof attempt !== "number" || typeof at !== "number") return undefined;
  const result = resultOf(recordKey, fields);
  const marks = {
    ...(tracked === true && { tracked }),
    ...(typeof next === "string" && { next }),
    ...(undo === true && { undo }),
    ...(undoNext === true && { undoNext }),
  };
  return { state, attempt, at, ...marks, ...(result && { result }) };
}

function resultOf(
  recordKey: string,
  { result, apart, lostBytes }: Readonly<Record<string, unknown>>,
): StoredResult | undefined {
  if (typeof result === "string") return { in: "record", text: result };
  if (typeof apart === "string") return { in: "item", address: resultAddressOf(recordKey, "", apart) };
  return typeof lostBytes === "number" ? { in: "nowhere", bytes: lostBytes } : undefined;
}
