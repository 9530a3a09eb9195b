/** One statement about DynamoDB: who says so, and a run that shows it. */
import { expect } from "vitest";
import type { CancellationReason, DynamoDBErrorName } from "../../../../lib/aws/dynamodb/dynamodb-error.ts";
import type { DynamoDBSubject } from "./subject.ts";

export interface DynamoDBCase {
  readonly title: string;
  /** The page where AWS says it, or the test that recorded it in AWS. */
  readonly source: string;
  readonly run: (subject: DynamoDBSubject) => Promise<void>;
}

const GUIDE = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide";
const API = "https://docs.aws.amazon.com/amazondynamodb/latest/APIReference";
/** Suites whose tests were run against AWS. */
const RECORDED = "https://github.com/paritysuite/dynamodb-conformance/blob/main/tests";
const DYNALITE = "https://github.com/architect/dynalite/blob/main/test";

export const guide = (page: string) => `${GUIDE}/${page.replace(/(#|$)/, ".html$1")}`;
export const api = (operation: string) => `${API}/API_${operation}.html`;
export const recorded = (file: string) => `${RECORDED}/${file}.test.ts`;
export const dynalite = (operation: string) => `${DYNALITE}/${operation}.js`;

export function shows(
  title: string,
  source: string,
  run: (subject: DynamoDBSubject) => Promise<void>,
): DynamoDBCase {
  return { title, source, run };
}

interface Refusal extends Error {
  readonly Item?: unknown;
  readonly CancellationReasons?: readonly CancellationReason[];
}

/** Texts of errors differ between DynamoDB and its emulators; names do not. */
export async function refused(call: Promise<unknown>, name: DynamoDBErrorName): Promise<Refusal> {
  const answer = await call.then(
    (output) => ({ output }),
    (error: Refusal) => error,
  );
  expect(answer).toMatchObject({ name });
  return answer as Refusal;
}

/** The reasons of a cancelled transaction, by their codes. */
export async function cancelled(call: Promise<unknown>): Promise<readonly string[]> {
  const { CancellationReasons = [] } = await refused(call, "TransactionCanceledException");
  return CancellationReasons.map(({ Code }) => Code);
}
