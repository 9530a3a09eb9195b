// The bucket for results that are too large for their records: encrypted, and emptied by age.
import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { Grant, type IGrantable } from "aws-cdk-lib/aws-iam";
import type { IKey } from "aws-cdk-lib/aws-kms";
import { BlockPublicAccess, Bucket, BucketEncryption } from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { injected } from "./injected.ts";
import { grantSending } from "./perms.ts";
import { withDefaults } from "./with-defaults.ts";

/** Properties of a {@link ResultBucket}. */
export interface ResultBucketProps {
  /**
   * The longest `retention` of the functions that store results here. Objects live a day longer, so that a record never
   * outlives its result. S3 counts whole days.
   *
   * @default Duration.days(1)
   */
  readonly retention?: Duration;

  /**
   * A customer managed key that encrypts the objects. Each grant includes its use.
   *
   * @default - S3's own keys
   */
  readonly encryptionKey?: IKey;

  /**
   * What happens to the bucket when it's removed from the stack. Without it, replays of its results fail.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
}

const RESULT_BUCKET_DEFAULTS = {
  retention: Duration.days(1),
  removalPolicy: RemovalPolicy.RETAIN,
} as const;

/**
 * An S3 bucket for the large results of handlers whose store is `offloaded`: private, encrypted, without versions, and with a
 * lifecycle that deletes objects after `retention`. Pass it as `resultBucket` to `UseIdempotency`.
 */
export class ResultBucket extends Construct {
  /** The id that property injectors of the app use for this construct. */
  static readonly PROPERTY_INJECTION_ID: string = "onceonly.cdk.ResultBucket";

  readonly bucket: Bucket;
  readonly retention: Duration;

  constructor(scope: Construct, id: string, props: ResultBucketProps = {}) {
    super(scope, id);
    props = injected(ResultBucket.PROPERTY_INJECTION_ID, scope, id, props);
    const { encryptionKey } = props;
    const { retention, removalPolicy } = withDefaults(props, RESULT_BUCKET_DEFAULTS);
    this.retention = retention;
    this.bucket = new Bucket(this, "Default", {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      removalPolicy,
      ...(encryptionKey
        ? { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }
        : { encryption: BucketEncryption.S3_MANAGED }),
      lifecycleRules: [
        {
          expiration: Duration.days(Math.ceil(retention.toDays({ integral: false })) + 1),
          abortIncompleteMultipartUploadAfter: Duration.days(1),
        },
      ],
    });
  }

  get bucketName(): string {
    return this.bucket.bucketName;
  }

  /** Grants what `offloaded` needs: `PutObject`, `GetObject`, and `ListBucket`, without which S3 doesn't say that an object is missing. */
  grantResults(grantee: IGrantable): Grant {
    return this.#grantObjects(grantee, "s3:PutObject")
      .combine(this.#grantObjects(grantee, "s3:GetObject"))
      .combine(this.#grantBucket(grantee, "s3:ListBucket"));
  }

  /** Grants what `eraseResult` also needs: `ListBucketVersions` and `DeleteObjectVersion`, since it deletes each object by its version. */
  grantErasing(grantee: IGrantable): Grant {
    const resourceArns = [this.bucket.arnForObjects("*")];
    const actions = ["s3:DeleteObjectVersion"];
    return this.#grantBucket(grantee, "s3:ListBucketVersions").combine(
      Grant.addToPrincipal({ grantee, actions, resourceArns }),
    );
  }

  #grantObjects(grantee: IGrantable, action: string): Grant {
    const { encryptionKey: key } = this.bucket;
    return grantSending(grantee, { action, arn: this.bucket.arnForObjects("*"), ...(key && { key }) });
  }

  #grantBucket(grantee: IGrantable, action: string): Grant {
    return Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [this.bucket.bucketArn] });
  }
}
