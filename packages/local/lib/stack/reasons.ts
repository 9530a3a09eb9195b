// Why a resource is not run: by its type, else by its service. Pure.

const BY_TYPE: Readonly<Record<string, string>> = {
  "AWS::CloudFormation::CustomResource": "custom resources are not run, and give no values",
  "AWS::CloudFormation::Stack": "nested stacks are not run: make it a stack of the app",
  "AWS::Events::ApiDestination": "nothing is sent to addresses outside",
  "AWS::Events::Archive": "events are not kept, and none is played again",
  "AWS::Events::Connection": "nothing is sent to addresses outside",
  "AWS::Lambda::LayerVersion": "functions run without layers",
  "AWS::S3::Bucket": "give functions an S3 of yours by AWS_ENDPOINT_URL_S3",
  "AWS::StepFunctions::StateMachine": "state machines are not run; their functions can be invoked",
};

const BY_SERVICE: Readonly<Record<string, string>> = {
  ApiGateway: "APIs run without it",
  ApiGatewayV2: "APIs run without it",
  CloudFront: "ask the API or function URL itself",
  Cognito: "nobody signs in here",
  EC2: "functions run in the network of this machine",
  ElasticLoadBalancingV2: "load balancers are not run",
  Kinesis: "streams of Kinesis are not run",
  MSK: "Kafka is not run",
  Pipes: "pipes are not run",
  Route53: "ask the API or function URL itself",
  SSM: "give functions a Parameter Store of yours by AWS_ENDPOINT_URL_SSM",
  SecretsManager: "give functions a Secrets Manager of yours by AWS_ENDPOINT_URL_SECRETS_MANAGER",
  WAFv2: "no request is filtered",
};

export function reasonNotToRun(type: string): string {
  if (type.startsWith("Custom::")) return BY_TYPE["AWS::CloudFormation::CustomResource"] as string;
  const service = type.split("::")[1] ?? "";
  return BY_TYPE[type] ?? BY_SERVICE[service] ?? `the service ${service || type} has no local counterpart`;
}
