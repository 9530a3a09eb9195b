// Whether a function in a VPC has a way to DynamoDB.
import { Annotations, type CfnResource } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { numberIn } from "./windows/hop.ts";
import { objectIn, ResolvedApp, type TemplateProperties, valueIn } from "./windows/resolved-app.ts";

/** Where a route may lead out. A function has no public address, so an internet gateway is no way for it. */
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

/** A warning, since routes and endpoints may be made elsewhere. */
export function warnOfNoWay(fn: IConstruct): void {
  const app = ResolvedApp.of(fn);
  warnOfClosedGroups(app, fn);
  const subnets = app.targetsIn(valueIn(objectIn(app.propertiesAt(fn).VpcConfig), "SubnetIds"));
  const tables = subnets.flatMap((subnet) => routeTablesOf(app, subnet));
  // Subnets and route tables of elsewhere are not known.
  if (
    tables.length === 0 ||
    tables.some((table) => leadsOut(app, table)) ||
    hasEndpoint(app, subnets, tables)
  )
    return;
  Annotations.of(fn).addWarningV2(
    "onceonly:no-way-out",
    `${fn.node.path} runs in ${subnets.length} subnets of which no route leads to DynamoDB, so that each of its requests there would time out: add a gateway endpoint of DynamoDB to the VPC, or choose subnets with a NAT gateway`,
  );
}

/** Whether every security group of a function keeps it from sending HTTPS requests. A group of elsewhere is not known. */
function warnOfClosedGroups(app: ResolvedApp, fn: IConstruct): void {
  const ids = valueIn(objectIn(app.propertiesAt(fn).VpcConfig), "SecurityGroupIds");
  const groups = (Array.isArray(ids) ? ids : []).map((id) => app.targetIn(id, "AWS::EC2::SecurityGroup"));
  if (groups.length === 0 || groups.some((group) => group === undefined || leavesOut(app, group))) return;
  Annotations.of(fn).addWarningV2(
    "onceonly:no-way-out",
    `${fn.node.path} has ${groups.length} security groups of which none lets HTTPS requests out, so that each of its requests to DynamoDB would time out: allow outbound TCP on port 443`,
  );
}

/** Without rules of its own a group lets everything out. */
function leavesOut(app: ResolvedApp, group: CfnResource): boolean {
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
  // CDK writes this rule if nothing is to be let out.
  if (CidrIp === "255.255.255.255/32") return false;
  if (`${IpProtocol}` === "-1") return true;
  // A port that is known at deployment only may be the one.
  const isAbove = (numberIn(FromPort) ?? 0) > 443;
  const isBelow = (numberIn(ToPort) ?? 65_535) < 443;
  return /^(tcp|6)$/.test(`${IpProtocol}`) && !isAbove && !isBelow;
}

const routeTablesOf = (app: ResolvedApp, subnet: CfnResource) =>
  app
    .ofType("AWS::EC2::SubnetRouteTableAssociation")
    .map((each) => app.propertiesOf(each))
    .filter(({ SubnetId }) => app.targetsIn(SubnetId).includes(subnet))
    .flatMap(({ RouteTableId }) => app.targetsIn(RouteTableId));

const leadsOut = (app: ResolvedApp, table: CfnResource) =>
  app
    .ofType("AWS::EC2::Route")
    .map((each) => app.propertiesOf(each))
    .some(
      (route) =>
        app.targetsIn(route.RouteTableId).includes(table) && WAYS_OUT.some((way) => route[way] !== undefined),
    );

/** A gateway endpoint of DynamoDB is in route tables, and an interface endpoint in subnets of the VPC. */
function hasEndpoint(
  app: ResolvedApp,
  subnets: readonly CfnResource[],
  tables: readonly CfnResource[],
): boolean {
  const vpcs = subnets.flatMap((subnet) => app.targetsIn(app.propertiesOf(subnet).VpcId));
  return app
    .ofType("AWS::EC2::VPCEndpoint")
    .map((each) => app.propertiesOf(each))
    .some(({ ServiceName, RouteTableIds, VpcId, VpcEndpointType }) => {
      if (!/dynamodb/.test(JSON.stringify(ServiceName) ?? "")) return false;
      return VpcEndpointType === "Interface"
        ? app.targetsIn(VpcId).some((each) => vpcs.includes(each))
        : app.targetsIn(RouteTableIds).some((each) => tables.includes(each));
    });
}
