/** A record of a table's stream, as its API has it and as Lambda hands it to a function. Pure. */

export interface StreamRecord {
  readonly eventID: string;
  readonly eventName: "INSERT" | "MODIFY" | "REMOVE";
  readonly dynamodb: {
    readonly SequenceNumber: string;
    /** In epoch seconds. */
    readonly ApproximateCreationDateTime: number;
  };
  /** Who deleted what expired: as the API spells it, or as Lambda does. */
  readonly userIdentity?:
    | { readonly PrincipalId: string; readonly Type: string }
    | { readonly principalId: string; readonly type: string }
    | undefined;
}

/** Engines write a region of their own into the ARNs of streams. */
const ENGINE_REGION = /^(arn:[\w-]+:dynamodb:)[^:]*/;

/**
 * The API's names begin with capitals, those of an event do not.
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
