/** Items of a size, for cases about capacity. */
import { type M, S } from "./given.ts";

export type Item = Parameters<typeof M>[0];

export const COUNTED = { ReturnConsumedCapacity: "TOTAL" } as const;
export const text = (bytes: number) => S("x".repeat(bytes));

/** An item of as many bytes, its key included. */
export function sized(key: { readonly pk: { readonly S: string } }, bytes: number): Item {
  return { ...key, d: text(bytes - "pk".length - key.pk.S.length - "d".length) };
}

export function unitsOf({
  ConsumedCapacity,
}: {
  readonly ConsumedCapacity?: readonly { readonly TableName: string; readonly CapacityUnits: number }[];
}) {
  return Object.fromEntries(
    (ConsumedCapacity ?? []).map(({ TableName, CapacityUnits }) => [TableName, CapacityUnits]),
  );
}
