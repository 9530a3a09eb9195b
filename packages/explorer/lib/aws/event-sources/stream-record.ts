/** A record of a table's stream, in the API's form and in that of a Lambda event. Pure. */

export interface StreamRecord {
  readonly eventID: string;
  readonly eventName: "INSERT" | "MODIFY" | "REMOVE";
  readonly dynamodb: {
    readonly SequenceNumber: string;
    /** Epoch seconds. */
    readonly ApproximateCreationDateTime: number;
  };
  /** The service that deleted an expired item, in the API's spelling or in Lambda's. */
  readonly userIdentity?:
    | { readonly PrincipalId: string; readonly Type: string }
    | { readonly principalId: string; readonly type: string }
    | undefined;
}

/** Engines write another Region into the ARNs of streams. */
const ENGINE_REGION = /^(arn:[\w-]+:dynamodb:)[^:]*/;

/**
 * Property names of the API begin with capitals, those of an event do not.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-streams.html
 */
export function lambdaRecord(record: StreamRecord, streamArn: string, region: string): StreamRecord {
  const { userIdentity, ...rest } = record;
  const eventSourceARN = streamArn.replace(ENGINE_REGION, `$1${region}`);
  return {
    ...rest,
    ...{ awsRegion: region, eventSourceARN },
    ...(userIdentity && {
      userIdentity:
        "Type" in userIdentity
          ? { type: userIdentity.Type, principalId: userIdentity.PrincipalId }
          : userIdentity,
    }),
  };
}
