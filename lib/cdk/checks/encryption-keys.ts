// Customer keys of resources that are made in the same app: granted to those who need them, and kept as long as the data.
import { Annotations, CfnDeletionPolicy, type CfnResource } from "aws-cdk-lib";
import type { IKey } from "aws-cdk-lib/aws-kms";
import type { IConstruct } from "constructs";
import { ownerPath, walkOnce } from "./resources.ts";
import { objectIn, ResolvedApp, type TemplateProperties } from "./windows/resolved-app.ts";

/** The names of the customer keys in a template. Keys that AWS manages for a service are open to the account. */
function keysIn({ cfnResourceType }: CfnResource, properties: TemplateProperties): unknown[] {
  if (/^AWS::(SQS::Queue|SNS::Topic)$/.test(cfnResourceType)) {
    const { KmsMasterKeyId: key } = properties;
    return key === undefined || /^alias\/aws\//.test(`${key}`) ? [] : [key];
  }
  if (!/^AWS::DynamoDB::/.test(cfnResourceType)) return [];
  const { SSESpecification, Replicas } = properties;
  const replicas = Array.isArray(Replicas) ? (Replicas as TemplateProperties[]) : [];
  // A replica has its own key.
  return [SSESpecification, ...replicas.map((each) => each.SSESpecification)]
    .map(objectIn)
    .filter(({ SSEEnabled, KMSMasterKeyId }) => SSEEnabled !== false && KMSMasterKeyId !== undefined)
    .map(({ KMSMasterKeyId }) => KMSMasterKeyId);
}

export const hasCustomerKey = (resource: CfnResource, properties: TemplateProperties) =>
  keysIn(resource, properties).length > 0;

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

const isKept = ({ cfnOptions: { deletionPolicy } }: CfnResource) =>
  deletionPolicy === CfnDeletionPolicy.RETAIN || deletionPolicy === CfnDeletionPolicy.RETAIN_EXCEPT_ON_CREATE;

/** A warning, since KMS waits for 7 to 30 days, in which a key can be kept after all. */
export function warnOfDestroyedKey(app: ResolvedApp, resource: CfnResource): void {
  if (!isKept(resource)) return;
  for (const key of app.targetsIn(keysIn(resource, app.propertiesOf(resource)))) {
    if (key.cfnResourceType !== "AWS::KMS::Key" || isKept(key)) continue;
    Annotations.of(resource).addWarningV2(
      "onceonly:destroyed-key",
      `${ownerPath(resource)} is kept when its stack is deleted, and its key ${ownerPath(key)} isn't: without the key nothing in it can be read again. Give the key RemovalPolicy.RETAIN`,
    );
  }
}
