/** `onceonly openapi`: what an API's documentation says of a handler's idempotency. */
import type { HttpIdempotencyOptions } from "onceonly/kit";
import { type CliCommand, onlyArgument, printLines, UsageError } from "./command.ts";
import { defaultExport } from "./default-export.ts";

export const openapi: CliCommand = {
  usage: `usage: onceonly openapi <module>

Prints an OpenAPI 3.1 document with the key's header, its format and retention, and the responses 400, 401, 403, 409, 410, 422,
500 and 503. The module's default export must be the handler's options:

  export default { operation: "create-order", store, scope: callerFromJwt() };`,
  options: {},
  async run({ positionals, terminal }) {
    const module = onlyArgument(positionals, "module");
    const options = (await defaultExport(module, "the options module")) as
      | HttpIdempotencyOptions<never>
      | undefined;
    if (typeof options?.operation !== "string") {
      throw new UsageError(
        `${module} must export the options of httpIdempotency or httpIdempotent as its default export`,
      );
    }
    const { openApiFragment } = await import("./openapi-fragment.ts");
    printLines(terminal, JSON.stringify(openApiFragment(options), undefined, 2));
    return 0;
  },
};
