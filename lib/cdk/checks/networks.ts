// Whether a function in a VPC has a way to DynamoDB.
import { Annotations, type CfnResource } from "aws-cdk-lib";
import type { IConstruct } from "constructs";
import { objectIn, ResolvedApp, valueIn } from "./windows/resolved-app.ts";

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
