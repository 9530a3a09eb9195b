// Why a resource is not run: by its type, else by its service. Pure.

const BY_TYPE: Readonly<Record<string, string>> = {
  "AWS::CloudFormation::CustomResource": "custom resources don't run, and return no values",
  "AWS::CloudFormation::Stack": "nested stacks don't run: make it a top-level stack of the app",
  "AWS::Events::ApiDestination": "nothing is sent to external addresses",
  "AWS::Events::Archive": "events aren't archived or replayed",
  "AWS::Events::Connection": "nothing is sent to external addresses",
  "AWS::Lambda::LayerVersion": "functions run without layers",
  "AWS::S3::Bucket": "point functions to your own S3 with AWS_ENDPOINT_URL_S3",
  "AWS::StepFunctions::StateMachine": "state machines don't run, but their functions can be invoked",
};

const BY_SERVICE: Readonly<Record<string, string>> = {
  ApiGateway: "APIs run without it",
  ApiGatewayV2: "APIs run without it",
  CloudFront: "call the API or function URL directly",
  Cognito: "there's no sign-in locally",
  EC2: "functions run in this machine's network",
  ElasticLoadBalancingV2: "load balancers don't run",
  Kinesis: "Kinesis streams don't run",
  MSK: "Kafka doesn't run",
  Pipes: "pipes don't run",
  Route53: "call the API or function URL directly",
  SSM: "point functions to your own Parameter Store with AWS_ENDPOINT_URL_SSM",
  SecretsManager: "point functions to your own Secrets Manager with AWS_ENDPOINT_URL_SECRETS_MANAGER",
  WAFv2: "requests aren't filtered",
};

export function reasonNotToRun(type: string): string {
  if (type.startsWith("Custom::")) return BY_TYPE["AWS::CloudFormation::CustomResource"] as string;
  const service = type.split("::")[1] ?? "";
  return BY_TYPE[type] ?? BY_SERVICE[service] ?? `the service ${service || type} has no local counterpart`;
}
