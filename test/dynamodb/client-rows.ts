// Configurations of a client that the store makes itself: what the environment, the shared files and the network can hold.
import { type Answer, type Row, secretOf } from "./clients-world.ts";

export const KEYS = { AWS_ACCESS_KEY_ID: "ENV", AWS_SECRET_ACCESS_KEY: secretOf("ENV") };
const HOME = { ...KEYS, AWS_REGION: "eu-central-1" };
const TEMPORARY = { ...HOME, AWS_SESSION_TOKEN: "token-of-ENV" };
const NO_KEYS = { AWS_REGION: "eu-central-1", AWS_EC2_METADATA_DISABLED: "true" };

const profile = (name: string, settings: Readonly<Record<string, string>>): string =>
  [`[${name}]`, ...Object.entries(settings).map(([key, value]) => `${key} = ${value}`), ""].join("\n");
const keysOf = (name: string) => ({ aws_access_key_id: name, aws_secret_access_key: secretOf(name) });

const refusal = (type: string, more: object = {}): string =>
  JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: `of ${type}`, ...more });
const failing = (type: string, status = 400, more: object = {}): Answer => ({
  status,
  body: refusal(type, more),
});

const REGIONS = [
  "eu-central-1",
  "us-east-1",
  "us-gov-west-1",
  "cn-north-1",
  "eusc-de-east-1",
  "us-iso-east-1",
  "us-isob-east-1",
  "local",
  "us-east-1-fips",
  "fips-us-west-2",
];

function placeRows(): Record<string, Row> {
  const rows: Record<string, Row> = {};
  for (const AWS_REGION of REGIONS) {
    for (const fips of ["", "true"]) {
      for (const dual of ["", "true"]) {
        const env = {
          ...KEYS,
          AWS_REGION,
          ...(fips && { AWS_USE_FIPS_ENDPOINT: fips }),
          ...(dual && { AWS_USE_DUALSTACK_ENDPOINT: dual }),
        };
        rows[`region ${AWS_REGION}${fips && ", FIPS"}${dual && ", dual stack"}`] = { env };
      }
    }
  }
  for (const mode of ["preferred", "disabled", "required"]) {
    for (const account of ["", "123456789012"]) {
      rows[`account id ${account || "unknown"}, mode ${mode}`] = {
        env: {
          ...HOME,
          AWS_ACCOUNT_ID_ENDPOINT_MODE: mode,
          ...(account && { AWS_ACCOUNT_ID: account }),
        },
      };
    }
  }
  const endpoints: Record<string, Record<string, string>> = {
    "for all services": { AWS_ENDPOINT_URL: "http://localhost:4566" },
    "for DynamoDB": { AWS_ENDPOINT_URL_DYNAMODB: "http://localhost:8000" },
    "for DynamoDB beside one for all": {
      AWS_ENDPOINT_URL: "http://localhost:4566",
      AWS_ENDPOINT_URL_DYNAMODB: "http://localhost:8000",
    },
    "with a path": { AWS_ENDPOINT_URL: "https://gateway.example.com/aws/dynamodb" },
    "with a path and a slash": { AWS_ENDPOINT_URL: "https://gateway.example.com/aws/" },
    "with a query": { AWS_ENDPOINT_URL: "https://gateway.example.com/?key=1" },
    "with IPv6": { AWS_ENDPOINT_URL: "http://[::1]:8000" },
    "with the protocol's own port": { AWS_ENDPOINT_URL: "https://gateway.example.com:443" },
    "that is to be ignored": {
      AWS_ENDPOINT_URL: "http://localhost:4566",
      AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "true",
    },
    "with FIPS": { AWS_ENDPOINT_URL: "http://localhost:4566", AWS_USE_FIPS_ENDPOINT: "true" },
    "with dual stack": { AWS_ENDPOINT_URL: "http://localhost:4566", AWS_USE_DUALSTACK_ENDPOINT: "true" },
    "of another Region": { AWS_ENDPOINT_URL: "https://dynamodb.eu-west-1.amazonaws.com" },
  };
  for (const [name, env] of Object.entries(endpoints)) {
    rows[`an endpoint ${name}`] = { env: { ...HOME, ...env } };
  }
  for (const name of ["AWS_USE_FIPS_ENDPOINT", "AWS_USE_DUALSTACK_ENDPOINT"]) {
    for (const value of ["TRUE", "1", "false"]) {
      rows[`${name} is ${value}`] = { env: { ...HOME, [name]: value } };
    }
  }
  rows["no Region"] = { env: KEYS };
  return rows;
}

function profileRows(): Record<string, Row> {
  const rows: Record<string, Row> = {};
  const settings: Record<string, Record<string, string>> = {
    "its Region": { region: "ap-southeast-2" },
    "its endpoint": { endpoint_url: "http://localhost:4566" },
    "its services": { services: "local" },
    FIPS: { use_fips_endpoint: "true" },
    "dual stack": { use_dualstack_endpoint: "true" },
    "an account id endpoint mode": { account_id_endpoint_mode: "required" },
    "adaptive retries": { retry_mode: "adaptive" },
    "the number of attempts": { max_attempts: "2" },
    "nothing but output": { output: "json" },
    "an application id": { sdk_ua_app_id: "shop" },
  };
  const services = "[services local]\ndynamodb =\n  endpoint_url = http://localhost:8001\n";
  for (const [name, lines] of Object.entries(settings)) {
    const answers = Array.from({ length: 9 }, () => failing("InternalServerError", 500));
    rows[`the default profile has ${name}`] = {
      env: HOME,
      config: profile("default", lines) + services,
      answers,
    };
    rows[`a profile that is named has ${name}`] = {
      env: { ...HOME, AWS_PROFILE: "shop" },
      config: profile("profile shop", { ...lines, ...keysOf("PROFILE") }) + services,
      answers,
    };
  }
  rows["the default profile has a Region, and the environment none"] = {
    env: KEYS,
    config: profile("default", { region: "ap-southeast-2" }),
  };
  return rows;
}

function credentialRows(): Record<string, Row> {
  const web = { AWS_WEB_IDENTITY_TOKEN_FILE: "<token>", AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/web" };
  const pod = { AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://169.254.170.23/container" };
  const task = { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/container" };
  const named = { AWS_PROFILE: "shop" };
  const shop = profile("shop", keysOf("PROFILE"));
  const script = `printf '{"Version":1,"AccessKeyId":"PROCESS","SecretAccessKey":"${secretOf("PROCESS")}"}'`;
  return {
    "keys of the environment": { env: HOME },
    "keys of the environment, with a token": { env: TEMPORARY },
    "keys of the environment, with an empty token": { env: { ...HOME, AWS_SESSION_TOKEN: "" } },
    "keys of the environment, with an expiration": {
      env: { ...TEMPORARY, AWS_CREDENTIAL_EXPIRATION: "2099-01-01T00:00:00Z" },
    },
    "an access key without its secret": { env: { ...NO_KEYS, AWS_ACCESS_KEY_ID: "HALF" } },
    "an access key without its secret, beside a container's": {
      env: { ...NO_KEYS, ...pod, AWS_ACCESS_KEY_ID: "HALF" },
    },
    "no credentials": { env: NO_KEYS },
    "D2: AWS_PROFILE beside keys of the environment": { env: { ...HOME, ...named }, credentials: shop },
    "D2: AWS_PROFILE names no profile, beside keys": { env: { ...HOME, AWS_PROFILE: "absent" } },
    "D2: AWS_PROFILE is empty, beside keys": {
      env: { ...HOME, AWS_PROFILE: "" },
      credentials: profile("default", keysOf("DEFAULT")),
    },
    "D2: AWS_PROFILE beside a container's": { env: { ...NO_KEYS, ...named, ...pod }, credentials: shop },
    "D2: a LocalStack profile with an endpoint beside keys of the environment": {
      env: { ...HOME, AWS_PROFILE: "localstack" },
      config: profile("profile localstack", {
        ...keysOf("LOCALSTACK"),
        endpoint_url: "http://localhost:4566",
      }),
    },
    "a profile": { env: { ...NO_KEYS, ...named }, credentials: shop },
    "the default profile": { env: NO_KEYS, credentials: profile("default", keysOf("DEFAULT")) },
    "D2: the default profile beside keys of the environment": {
      env: HOME,
      credentials: profile("default", keysOf("DEFAULT")),
    },
    "D2: the default profile beside a container's": {
      env: { ...NO_KEYS, ...pod },
      credentials: profile("default", keysOf("DEFAULT")),
    },
    "D2: the default profile beside a web identity": {
      env: { ...NO_KEYS, ...web },
      credentials: profile("default", keysOf("DEFAULT")),
    },
    "a default profile without credentials beside a container's": {
      env: { ...NO_KEYS, ...pod },
      config: profile("default", { output: "json" }),
    },
    "a process that a profile names": {
      env: { ...NO_KEYS, ...named },
      config: profile("profile shop", { credential_process: script }),
    },
    "D2: a process that the default profile names, beside a container's": {
      env: { ...NO_KEYS, ...pod },
      config: profile("default", { credential_process: script }),
    },
    "a web identity": { env: { ...NO_KEYS, ...web } },
    "a web identity beside keys of the environment": { env: { ...TEMPORARY, ...web } },
    "D2: a web identity beside EKS Pod Identity": { env: { ...NO_KEYS, ...web, ...pod } },
    "D2: a web identity beside a task role": { env: { ...NO_KEYS, ...web, ...task } },
    "a web identity without a role beside a container's": {
      env: { ...NO_KEYS, ...pod, AWS_WEB_IDENTITY_TOKEN_FILE: "<token>" },
    },
    "EKS Pod Identity": { env: { ...NO_KEYS, ...pod } },
    "EKS Pod Identity beside keys of the environment": { env: { ...TEMPORARY, ...pod } },
    "a task role": { env: { ...NO_KEYS, ...task } },
    "a task role beside EKS Pod Identity": { env: { ...NO_KEYS, ...task, ...pod } },
    "an instance role": { env: { AWS_REGION: "eu-central-1" } },
  };
}

function failureRows(): Record<string, Row> {
  const reasons = [{ Code: "None" }, { Code: "ConditionalCheckFailed", Item: { pk: { S: "1" } } }];
  const endless = (answer: Answer) => Array.from({ length: 12 }, () => answer);
  const failures: Record<string, readonly Answer[]> = {
    "a connection that breaks": [{ breaks: "before" }],
    "a response that is cut off": [{ breaks: "within" }],
    "a condition that isn't met": [failing("ConditionalCheckFailedException", 400, { Item: {} })],
    "a transaction that is canceled": [
      failing("TransactionCanceledException", 400, { CancellationReasons: reasons }),
    ],
    "a transaction in progress": [failing("TransactionInProgressException")],
    "a conflict": [failing("TransactionConflictException")],
    "D7: a replicated write conflict": [failing("ReplicatedWriteConflictException")],
    "a mistake": [failing("ValidationException")],
    "a table that doesn't exist": [failing("ResourceNotFoundException")],
    "access that is denied": [failing("AccessDeniedException")],
    "credentials that have expired": endless(failing("ExpiredTokenException")),
    "throttling: throughput": [failing("ProvisionedThroughputExceededException")],
    "throttling: requests": [failing("RequestLimitExceeded")],
    "throttling: ThrottlingException": [failing("ThrottlingException")],
    "throttling without end": endless(failing("ThrottlingException")),
    "a status of 429": [{ status: 429, body: "{}" }],
    "an internal error": [failing("InternalServerError", 500)],
    "internal errors without end": endless(failing("InternalServerError", 500)),
    "a gateway's page": [{ status: 503, body: "<html>unavailable</html>" }],
    "an error of 502 without a body": [{ status: 502, body: "" }],
    "D7: Retry-After in seconds": [
      { ...failing("ThrottlingException", 503), headers: { "retry-after": "0.02" } },
    ],
    "D7: x-amz-retry-after": [
      { ...failing("InternalServerError", 500), headers: { "x-amz-retry-after": "20" } },
    ],
    "D7: a Retry-After that can't be read": [
      { ...failing("InternalServerError", 500), headers: { "retry-after": "soon" } },
    ],
    "D7: an error by `code`": [{ status: 400, body: '{"code":"ThrottlingException","message":"m"}' }],
    "D7: an error by its header": [
      { status: 400, body: "{}", headers: { "X-Amzn-ErrorType": "ThrottlingException:http://x/" } },
    ],
    "a clock that is an hour behind": [
      {
        ...failing("InvalidSignatureException"),
        headers: { date: new Date(Date.now() + 3_600_000).toUTCString() },
      },
    ],
    "a clock that is an hour ahead": [
      {
        ...failing("RequestTimeTooSkewed"),
        headers: { date: new Date(Date.now() - 3_600_000).toUTCString() },
      },
    ],
  };
  const rows: Record<string, Row> = {};
  for (const [name, answers] of Object.entries(failures)) rows[`after ${name}`] = { env: HOME, answers };
  for (const mode of ["standard", "adaptive", "legacy"]) {
    for (const attempts of ["1", "2", "5"]) {
      rows[`${mode} retries, ${attempts} attempts`] = {
        env: { ...HOME, AWS_RETRY_MODE: mode, AWS_MAX_ATTEMPTS: attempts },
        answers: endless(failing("InternalServerError", 500)),
      };
    }
  }
  return rows;
}

function otherRows(): Record<string, Row> {
  const rows: Record<string, Row> = {};
  const variables: Record<string, Record<string, string>> = {
    "a function that is traced": {
      AWS_LAMBDA_FUNCTION_NAME: "orders",
      _X_AMZN_TRACE_ID: "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
    },
    "a function's environment": { AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x" },
    "an application id": { AWS_SDK_UA_APP_ID: "shop" },
    "a preference for sigv4a": { AWS_AUTH_SCHEME_PREFERENCE: "sigv4a" },
    "a preference for bearer tokens": { AWS_AUTH_SCHEME_PREFERENCE: "httpBearerAuth,sigv4" },
    "endpoint discovery": { AWS_ENABLE_ENDPOINT_DISCOVERY: "true" },
    "the Region of others": { AWS_DEFAULT_REGION: "us-west-1" },
  };
  for (const [name, env] of Object.entries(variables)) rows[name] = { env: { ...HOME, ...env } };
  for (const mode of ["standard", "in-region", "cross-region", "mobile", "auto", "legacy"]) {
    rows[`defaults mode ${mode}`] = { env: { ...HOME, AWS_DEFAULTS_MODE: mode } };
  }
  return rows;
}

export const ROWS: Readonly<Record<string, Row>> = {
  ...placeRows(),
  ...profileRows(),
  ...credentialRows(),
  ...failureRows(),
  ...otherRows(),
};
