// Refuses the use of a resource whose customer key isn't granted.
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IConstruct } from "constructs";
import { ownerPath } from "../rules/app.ts";
import { hasCustomerKey } from "../rules/encryption-keys.ts";
import { ResolvedApp } from "./resolved-app.ts";
import { walkOnce } from "./resources.ts";

/**
 * Has a resource of the app refused that is known by its name only, so that a grant leaves its key out.
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
            `${ownerPath(each)}, which ${user.node.path} uses, is encrypted by a customer managed key, and ${resource.node.path} doesn't have the key, so no grant includes it and every request would be refused. Import ${resource.node.path} with its key, or use the construct itself`,
        );
    },
  });
}
