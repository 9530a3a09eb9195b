// The prices of DynamoDB's on-demand mode, and what a path costs at them. Pure.
import type { Tally } from "../metering/meter.ts";

/** US East (N. Virginia), standard table class, US dollars; as listed since November 2024. */
export const PRICES = {
  region: "us-east-1",
  since: "November 2024",
  source: "https://aws.amazon.com/dynamodb/pricing/on-demand/",
  perMillionWriteUnits: 0.625,
  perMillionReadUnits: 0.125,
} as const;

/** US dollars for a million calls that spend this each. */
export function costPerMillion({ writeUnits, readUnits }: Tally): number {
  return writeUnits * PRICES.perMillionWriteUnits + readUnits * PRICES.perMillionReadUnits;
}
