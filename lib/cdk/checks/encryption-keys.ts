// Rejects the use of a resource whose customer managed key isn't granted.
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IConstruct } from "constructs";
import { ownerPath } from "../rules/app.ts";
import { hasCustomerKey } from "../rules/encryption-keys.ts";
import { ResolvedApp } from "./resolved-app.ts";
import { walkOnce } from "./resources.ts";

/**
 * Rejects a resource of the app that was imported by its name without its key, because a grant would then omit the key.
 * @param user the construct that uses it
 */
export function expectKey(user: IConstruct, resource: IConstruct, arn: string, key: IKey | undefined): void {
  if (key) return;
  walkOnce(user);
  user.node.addValidation({
    validate: () => {
      const app = ResolvedApp.of(user);
      return app
        .targetsIn(app.resolve(arn, resource))
        .filter((each) => hasCustomerKey(each, app.propertiesOf(each)))
        .map(
          (each) =>
            `${ownerPath(each)}, which ${user.node.path} uses, is encrypted with a customer managed key, but ${resource.node.path} was imported without it, so no grant includes the key and every request would be refused. Import ${resource.node.path} with its key, or use the construct itself`,
        );
    },
  });
}
