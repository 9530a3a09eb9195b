// Whether a function in a VPC has a route to DynamoDB and to its destinations.
import {
  type App,
  objectIn,
  ownerPath,
  type Report,
  type Resource,
  type TemplateProperties,
  valueIn,
} from "./app.ts";
import { deniedBy, endpointsFor, type Need, type Network, type Service } from "./endpoints.ts";
import { numberIn } from "./windows/hop.ts";

/** Targets that a route out of the VPC may have. A function has no public address, so an internet gateway doesn't work for it. */
const WAYS_OUT = [
  "CarrierGatewayId",
  "CoreNetworkArn",
  "EgressOnlyInternetGatewayId",
  "InstanceId",
  "LocalGatewayId",
  "NatGatewayId",
  "NetworkInterfaceId",
  "TransitGatewayId",
  "VpcEndpointId",
  "VpcPeeringConnectionId",
];

const NAMES: Readonly<Record<Service, string>> = {
  dynamodb: "DynamoDB",
  sqs: "SQS",
  sns: "SNS",
  events: "EventBridge",
  scheduler: "EventBridge Scheduler",
  lambda: "Lambda",
};

const A_TABLE: Need = { service: "dynamodb", actions: [], resource: undefined };

/** Only warns, because routes and endpoints may be defined elsewhere. */
export function findNoWay(app: App, fn: Resource, report: Report, needs: readonly Need[] = [A_TABLE]): void {
  const subnets = app.targetsIn(valueIn(objectIn(app.propertiesOf(fn).VpcConfig), "SubnetIds"));
  const network = { subnets, routeTables: subnets.flatMap((subnet) => routeTablesOf(app, subnet)) };
  findClosedGroups(app, fn, report);
  // Subnets and route tables that are defined elsewhere aren't known.
  if (network.routeTables.length === 0) return;
  findNoRoute(app, fn, network, [...new Set(needs.map(({ service }) => service))], report);
  for (const need of needs) findPolicies(app, fn, network, need, report);
}

function findNoRoute(
  app: App,
  fn: Resource,
  network: Network,
  services: readonly Service[],
  report: Report,
): void {
  if (network.routeTables.some((table) => leadsOut(app, table))) return;
  const missing = services.filter((each) => endpointsFor(app, each, network).length === 0);
  if (missing.length === 0) return;
  const names = missing.map((each) => NAMES[each]).join(" or ");
  const endpoints = missing.map(
    (each) => `${each === "dynamodb" ? "a gateway" : "an interface"} endpoint for ${NAMES[each]}`,
  );
  report(
    "warned",
    "no-way-out",
    fn,
    `${ownerPath(fn)} runs in ${network.subnets.length} subnets without a route to ${names}, so each of its requests there would time out: add ${endpoints.join(" and ")} to the VPC, or choose subnets with a NAT gateway`,
  );
}

function findPolicies(app: App, fn: Resource, network: Network, need: Need, report: Report): void {
  for (const endpoint of endpointsFor(app, need.service, network)) {
    const denied = deniedBy(app, endpoint, need);
    if (denied.length === 0) continue;
    const on = need.resource ? ` on ${ownerPath(need.resource)}` : "";
    report(
      "warned",
      "endpoint-policy",
      fn,
      `${ownerPath(fn)} reaches ${NAMES[need.service]} through ${ownerPath(endpoint)}, whose policy doesn't allow ${denied.join(" and ")}${on}: those requests are refused. Allow it in the endpoint's policy`,
    );
  }
}

/** Whether every security group of a function blocks outgoing HTTPS. A group that is defined elsewhere isn't known. */
function findClosedGroups(app: App, fn: Resource, report: Report): void {
  const ids = valueIn(objectIn(app.propertiesOf(fn).VpcConfig), "SecurityGroupIds");
  const groups = (Array.isArray(ids) ? ids : []).map((id) => app.targetIn(id, "AWS::EC2::SecurityGroup"));
  if (groups.length === 0 || groups.some((group) => group === undefined || leavesOut(app, group))) return;
  report(
    "warned",
    "no-way-out",
    fn,
    `${ownerPath(fn)} has ${groups.length} security groups, none of which allows outbound HTTPS, so each of its requests would time out: allow outbound TCP on port 443`,
  );
}

/** A group without egress rules allows everything out. */
function leavesOut(app: App, group: Resource): boolean {
  const { SecurityGroupEgress } = app.propertiesOf(group);
  const others = app
    .ofType("AWS::EC2::SecurityGroupEgress")
    .map((each) => app.propertiesOf(each))
    .filter(({ GroupId }) => app.targetsIn(GroupId).includes(group));
  if (SecurityGroupEgress === undefined && others.length === 0) return true;
  const own = Array.isArray(SecurityGroupEgress) ? (SecurityGroupEgress as TemplateProperties[]) : [];
  return [...own, ...others].some(letsHttpsOut);
}

function letsHttpsOut({ IpProtocol, FromPort, ToPort, CidrIp }: TemplateProperties): boolean {
  // CDK writes this rule to allow nothing out.
  if (CidrIp === "255.255.255.255/32") return false;
  if (`${IpProtocol}` === "-1") return true;
  // A port that is only known at deployment may be 443.
  const isAbove = (numberIn(FromPort) ?? 0) > 443;
  const isBelow = (numberIn(ToPort) ?? 65_535) < 443;
  return /^(tcp|6)$/.test(`${IpProtocol}`) && !isAbove && !isBelow;
}

const routeTablesOf = (app: App, subnet: Resource) =>
  app
    .ofType("AWS::EC2::SubnetRouteTableAssociation")
    .map((each) => app.propertiesOf(each))
    .filter(({ SubnetId }) => app.targetsIn(SubnetId).includes(subnet))
    .flatMap(({ RouteTableId }) => app.targetsIn(RouteTableId));

const leadsOut = (app: App, table: Resource) =>
  app
    .ofType("AWS::EC2::Route")
    .map((each) => app.propertiesOf(each))
    .some(
      (route) =>
        app.targetsIn(route.RouteTableId).includes(table) && WAYS_OUT.some((way) => route[way] !== undefined),
    );
