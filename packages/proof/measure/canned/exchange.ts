// A request to DynamoDB and its answer, as they travel. Pure.

export interface CannedAnswer {
  readonly status: number;
  readonly body: string;
}

export interface Exchange extends CannedAnswer {
  /** As the header names it, for example `PutItem`. */
  readonly operation: string;
  readonly request: Asked;
}

type Attributes = Readonly<Record<string, unknown>>;

/** The part of a request that decides which response it gets. */
export interface Asked {
  readonly TableName?: string;
  readonly Item?: Attributes;
  readonly Key?: Attributes;
  readonly ConditionExpression?: string;
  readonly TransactItems?: readonly Readonly<Record<string, Asked>>[];
}

export function operationOf(headers: Readonly<Record<string, unknown>>): string {
  return String(headers["x-amz-target"]).replace(/^.*\./, "");
}

/** The write that would make a record, if the request has one. */
export function claimIn({ TransactItems, ...write }: Asked): Asked | undefined {
  const writes = TransactItems?.flatMap((each) => Object.values(each)) ?? [write];
  return writes.find(({ ConditionExpression = "" }) => ConditionExpression.includes("attribute_not_exists("));
}
