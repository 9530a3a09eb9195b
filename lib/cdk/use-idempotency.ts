// The mixin that connects a function with an IdempotencyTable: the grant, and the environment variable that
// the handler reads. It may touch aws-cdk-lib, constructs and contract.ts only.
import { Mixin } from "aws-cdk-lib";
import type { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { IConstruct } from "constructs";
import { ENVIRONMENT } from "../contract.ts";
import type { IdempotencyTable } from "./idempotency-table.ts";

/**
 * Lets a Lambda function run operations against a table: `fn.with(new UseIdempotency(table))` grants exactly
 * what that takes and puts the table's name into the function's environment as `IDEMPOTENCY_TABLE`.
 *
 * Works on `Function` and everything that extends it, `NodejsFunction` included. An imported function has no
 * environment to set and is left alone.
 */
export class UseIdempotency extends Mixin {
  readonly #table: IdempotencyTable;

  constructor(table: IdempotencyTable) {
    super();
    this.#table = table;
  }

  override supports(construct: IConstruct): construct is LambdaFunction {
    // Not instanceof: an app may hold two copies of aws-cdk-lib, and a mixin that is not supported is skipped
    // without a word.
    return "addEnvironment" in construct && "grantPrincipal" in construct;
  }

  override applyTo(construct: IConstruct): void {
    if (!this.supports(construct)) {
      throw new Error(
        `${construct.node.path} is not a Lambda function: apply UseIdempotency to functions only`,
      );
    }
    this.#table.grantIdempotency(construct);
    construct.addEnvironment(ENVIRONMENT.idempotencyTable, this.#table.table.tableName);
  }
}
