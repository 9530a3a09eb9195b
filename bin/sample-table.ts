// Shared by the sample's tables: on-demand, restorable, and protected unless they are deleted with the stack.
import { RemovalPolicy } from "aws-cdk-lib";
import { AttributeType, Billing, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import type { Construct } from "constructs";

export interface SampleTableProps {
  /** The name of a text attribute, as is the sort key. */
  readonly partitionKey: string;
  /** @default - none */
  readonly sortKey?: string;
  readonly removalPolicy: RemovalPolicy;
}

export class SampleTable extends TableV2 {
  constructor(scope: Construct, id: string, { partitionKey, sortKey, removalPolicy }: SampleTableProps) {
    super(scope, id, {
      partitionKey: { name: partitionKey, type: AttributeType.STRING },
      ...(sortKey !== undefined && { sortKey: { name: sortKey, type: AttributeType.STRING } }),
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: removalPolicy !== RemovalPolicy.DESTROY,
      removalPolicy,
    });
  }
}
