// The VPC endpoints that a function uses to reach a service, and whether their policies allow it. No I/O.
import { type App, objectIn, QUEUE, type Resource, type TemplateProperties, valueIn } from "./app.ts";
import { flatText, nameIn } from "./named.ts";

/** As in endpoint names: "com.amazonaws.eu-west-1.sqs". */
export type Service = "dynamodb" | "sqs" | "sns" | "events" | "scheduler" | "lambda";

/** The actions that a function needs to call. */
export interface Need {
  readonly service: Service;
  /** "dynamodb:PutItem" */
  readonly actions: readonly string[];
  /** The resource, if this app defines it. */
  readonly resource: Resource | undefined;
}

export const TOPIC = "AWS::SNS::Topic";
export const EVENT_BUS = "AWS::Events::EventBus";

const SENDING: Readonly<Record<string, Omit<Need, "resource">>> = {
  [QUEUE]: { service: "sqs", actions: ["sqs:SendMessage"] },
  [TOPIC]: { service: "sns", actions: ["sns:Publish"] },
  [EVENT_BUS]: { service: "events", actions: ["events:PutEvents"] },
};

/** Needs for sending to a queue, a topic or a bus. */
export function needOfSending(type: string, resource: Resource | undefined): Need[] {
  const need = SENDING[type];
  return need ? [{ ...need, resource }] : [];
}

/** Needs for updating a table. */
export const needOfUpdates = (resource: Resource | undefined): Need => ({
  service: "dynamodb",
  actions: ["dynamodb:UpdateItem"],
  resource,
});

export interface Network {
  readonly subnets: readonly Resource[];
  readonly routeTables: readonly Resource[];
}

/** A gateway endpoint belongs to route tables, an interface endpoint to subnets of the VPC. */
export function endpointsFor(app: App, service: Service, network: Network): Resource[] {
  const { subnets, routeTables } = network;
  const vpcs = subnets.flatMap((subnet) => app.targetsIn(app.propertiesOf(subnet).VpcId));
  return app.ofType("AWS::EC2::VPCEndpoint").filter((endpoint) => {
    const { ServiceName, RouteTableIds, VpcId, VpcEndpointType } = app.propertiesOf(endpoint);
    if (!new RegExp(`\\.${service}(-fips)?$`).test(flatText(ServiceName))) return false;
    return VpcEndpointType === "Interface"
      ? app.targetsIn(VpcId).some((each) => vpcs.includes(each))
      : app.targetsIn(RouteTableIds).some((each) => routeTables.includes(each));
  });
}

/** The actions that no statement of an endpoint's policy allows. An endpoint without a policy allows everything. */
export function deniedBy(app: App, endpoint: Resource, { actions, resource }: Need): string[] {
  const { PolicyDocument } = app.propertiesOf(endpoint);
  if (PolicyDocument === undefined) return [];
  const statements = [valueIn(objectIn(PolicyDocument), "Statement")].flat().map(objectIn);
  return actions.filter((action) => !statements.some((each) => mayAllow(app, each, action, resource)));
}

function mayAllow(
  app: App,
  { Effect, Action, Resource, NotAction, NotResource }: TemplateProperties,
  action: string,
  resource: Resource | undefined,
): boolean {
  if (Effect !== "Allow") return false;
  if (NotAction === undefined && ![Action].flat().some((each) => isMatch(each, action))) return false;
  return NotResource !== undefined || [Resource].flat().some((each) => mayMean(app, each, resource));
}

/** Whether a policy's pattern may match the resource. A pattern that is only known at deployment may. */
function mayMean(app: App, pattern: unknown, resource: Resource | undefined): boolean {
  if (resource === undefined) return true;
  const named = app.targetsIn(pattern);
  if (named.length > 0) return named.includes(resource);
  const [, name] = /^arn:.*[:/]([^:/]+)$/.exec(flatText(pattern)) ?? [];
  if (name === undefined || name.includes("?")) return true;
  const own = nameIn(resource, app.propertiesOf(resource));
  // A name that CloudFormation generates isn't in the template as text.
  return own === undefined ? name.includes("*") : isMatch(name, own);
}

/** Matches with IAM's wildcards. Actions are case-insensitive. */
function isMatch(pattern: unknown, text: string): boolean {
  if (typeof pattern !== "string") return true;
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`, "i").test(text);
}
