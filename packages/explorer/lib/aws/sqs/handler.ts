/** The type of a function that implements one operation. */
import type { SqsOperationName, SqsOperations } from "./operations.ts";
import type { SqsService } from "./service.ts";

export type SqsHandler<Name extends SqsOperationName> = (
  service: SqsService,
  input: SqsOperations[Name]["input"],
) => SqsOperations[Name]["output"];
