// Customer managed keys of resources: which ones a resource has, and whether they're kept as long as the data.
import { type App, objectIn, ownerPath, type Report, type Resource, type TemplateProperties } from "./app.ts";

/** The customer managed keys in a template. The whole account can use keys that AWS manages for a service. */
function keysIn({ cfnResourceType }: Resource, properties: TemplateProperties): unknown[] {
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

export const hasCustomerKey = (resource: Resource, properties: TemplateProperties) =>
  keysIn(resource, properties).length > 0;

const isKept = (app: App, resource: Resource) =>
  /^Retain/.test(`${app.definitionOf(resource).DeletionPolicy}`);

/** Only a warning, because KMS waits for 7 to 30 days, during which the deletion can be cancelled. */
export function findDestroyedKey(app: App, resource: Resource, report: Report): void {
  if (!isKept(app, resource)) return;
  for (const key of app.targetsIn(keysIn(resource, app.propertiesOf(resource)))) {
    if (key.cfnResourceType !== "AWS::KMS::Key" || isKept(app, key)) continue;
    report(
      "warned",
      "destroyed-key",
      resource,
      `${ownerPath(resource)} is kept when its stack is deleted, but its key ${ownerPath(key)} isn't: without the key its data can't be read. Give the key RemovalPolicy.RETAIN`,
    );
  }
}
