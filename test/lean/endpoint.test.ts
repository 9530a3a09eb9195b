import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { SNSClient } from "@aws-sdk/client-sns";
import { SQSClient } from "@aws-sdk/client-sqs";
import { describe, expect, it } from "vitest";
import { placeOf } from "../../lib/lean/endpoint.ts";
import { EVENTBRIDGE, SNS, SQS } from "../../lib/lean/senders.ts";
import { DYNAMODB } from "../../lib/lean/service.ts";

const REGIONS = [
  "eu-central-1",
  "us-east-1",
  "ap-southeast-7",
  "mx-central-1",
  "a-region-of-2031",
  "cn-north-1",
  "cn-northwest-1",
  "us-gov-west-1",
  "us-gov-east-1",
  "us-iso-east-1",
  "us-isob-east-1",
  "us-isof-south-1",
  "eu-isoe-west-1",
  "eusc-de-east-1",
];

const CLIENTS = [
  [DYNAMODB, DynamoDBClient],
  [EVENTBRIDGE, EventBridgeClient],
  [SNS, SNSClient],
  [SQS, SQSClient],
] as const;

const places = CLIENTS.flatMap(([service, Client]) =>
  REGIONS.map((region) => ({ name: service.name, region, service, Client })),
);

describe("placeOf", () => {
  it.each(places)(
    "finds $name of $region as the SDK does, with FIPS and with IPv6",
    ({ region, service, Client }) => {
      const { endpointProvider } = new Client({ region }).config;
      for (const UseFIPS of [false, true]) {
        for (const UseDualStack of [false, true]) {
          const env = {
            AWS_REGION: region,
            AWS_USE_FIPS_ENDPOINT: `${UseFIPS}`,
            AWS_USE_DUALSTACK_ENDPOINT: `${UseDualStack}`,
          };
          const { url } = endpointProvider({ Region: region, UseFIPS, UseDualStack });

          expect(placeOf({}, env, service).url.href).toBe(url.href);
        }
      }
    },
  );

  it("uses the most specific one: the option, DynamoDB's variable, the one of all services", () => {
    const env = {
      AWS_REGION: "eu-central-1",
      AWS_ENDPOINT_URL: "http://localhost:4566",
      AWS_ENDPOINT_URL_DYNAMODB: "http://localhost:8000",
    };
    const hrefOf = (...parameters: Parameters<typeof placeOf>) => placeOf(...parameters).url.href;

    expect(hrefOf({ endpoint: "http://[::1]:9000/" }, env)).toBe("http://[::1]:9000/");
    expect(hrefOf({}, env)).toBe("http://localhost:8000/");
    expect(hrefOf({}, { ...env, AWS_ENDPOINT_URL_DYNAMODB: "" })).toBe("http://localhost:4566/");
    expect(hrefOf({}, { ...env, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: "true" })).toBe(
      "https://dynamodb.eu-central-1.amazonaws.com/",
    );
    expect(placeOf({ region: "us-east-2" }, env).region).toBe("us-east-2");
  });

  it.each([
    [{}, {}, "RegionMissingError", "set `region`"],
    [{}, { AWS_REGION: "" }, "RegionMissingError", "set `region`"],
    [{ region: "eu-central-1.evil.example/" }, {}, "RegionInvalidError", "must be a name"],
    [{ region: "eu-central-1", endpoint: "localhost:8000" }, {}, "EndpointError", "http or https URL"],
    [{ region: "eu-central-1" }, { AWS_ENDPOINT_URL: "nowhere" }, "EndpointError", "http or https URL"],
    [{ region: "local" }, {}, "RegionInvalidError", "only works with an endpoint"],
    [{ region: "eu-central-1" }, { AWS_USE_FIPS_ENDPOINT: "TRUE" }, "EndpointError", '"true" or "false"'],
    [
      { region: "us-east-1-fips", endpoint: "http://localhost:8000" },
      {},
      "EndpointError",
      "can't be combined with an endpoint",
    ],
    [{ region: "eu-central-1" }, { AWS_ACCOUNT_ID_ENDPOINT_MODE: "required" }, "EndpointError", "unset it"],
  ])("rejects %j in %j, and says what to do", (options, env, name, message) => {
    expect(() => placeOf(options, env)).toThrow(
      expect.objectContaining({ name, message: expect.stringContaining(message) }),
    );
  });
});
