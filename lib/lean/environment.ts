/** The environment variables that a client reads, under their AWS names: no other file in this folder reads them. */
export interface Environment {
  readonly AWS_ACCESS_KEY_ID?: string;
  readonly AWS_SECRET_ACCESS_KEY?: string;
  readonly AWS_SESSION_TOKEN?: string;
  readonly AWS_CONTAINER_CREDENTIALS_RELATIVE_URI?: string;
  readonly AWS_CONTAINER_CREDENTIALS_FULL_URI?: string;
  readonly AWS_CONTAINER_AUTHORIZATION_TOKEN?: string;
  readonly AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE?: string;
  readonly AWS_WEB_IDENTITY_TOKEN_FILE?: string;
  readonly AWS_ROLE_ARN?: string;
  readonly AWS_PROFILE?: string;
  readonly AWS_CONFIG_FILE?: string;
  readonly AWS_SHARED_CREDENTIALS_FILE?: string;
  readonly HOME?: string;
  readonly USERPROFILE?: string;
  readonly AWS_REGION?: string;
  readonly AWS_ENDPOINT_URL?: string;
  readonly AWS_ENDPOINT_URL_DYNAMODB?: string;
  readonly AWS_ENDPOINT_URL_EVENTBRIDGE?: string;
  readonly AWS_ENDPOINT_URL_SCHEDULER?: string;
  readonly AWS_ENDPOINT_URL_SNS?: string;
  readonly AWS_ENDPOINT_URL_SQS?: string;
  readonly AWS_IGNORE_CONFIGURED_ENDPOINT_URLS?: string;
  readonly AWS_ACCOUNT_ID_ENDPOINT_MODE?: string;
  readonly AWS_MAX_ATTEMPTS?: string;
  readonly AWS_USE_FIPS_ENDPOINT?: string;
  readonly AWS_USE_DUALSTACK_ENDPOINT?: string;
}

export function environment(): Environment {
  return process.env;
}
