/** The secrets of Secrets Manager in memory, which functions read. */
import { AwsHttpError, type AwsHttpService, jsonService } from "./http-service.ts";

const ARN = "arn:aws:secretsmanager:us-east-1:000000000000:secret:";
/** AWS appends six characters to the name in an ARN. */
const SUFFIX = "-AbCdEf";

export class SecretsModel {
  readonly #values = new Map<string, string>();
  readonly service: AwsHttpService = jsonService(
    {
      GetSecretValue: ({ SecretId }) => {
        const secret = this.#secret(String(SecretId));
        if (secret !== undefined) return secret;
        throw new AwsHttpError("ResourceNotFoundException", 400, `no such secret: ${SecretId}`);
      },
      BatchGetSecretValue: ({ SecretIdList }) => {
        const ids = SecretIdList as readonly string[];
        const missing = ids.filter((id) => this.#secret(id) === undefined);
        return {
          SecretValues: ids.flatMap((id) => this.#secret(id) ?? []),
          Errors: missing.map((SecretId) => ({ SecretId, ErrorCode: "ResourceNotFoundException" })),
        };
      },
    },
    ({ SecretId, SecretIdList }) =>
      [SecretId ?? SecretIdList]
        .flat()
        .map((id) => nameIn(String(id)))
        .join("+"),
  );

  set(name: string, value: string): void {
    this.#values.set(name, value);
  }

  #secret(id: string): object | undefined {
    const given = nameIn(id);
    const Name = [given, given.replace(/-\w{6}$/, "")].find((name) => this.#values.has(name));
    if (Name === undefined) return undefined;
    const identity = { ARN: `${ARN}${Name}${SUFFIX}`, Name, VersionId: "version-1" };
    return { ...identity, SecretString: this.#values.get(Name), VersionStages: ["AWSCURRENT"] };
  }
}

function nameIn(id: string): string {
  return /^arn:.*:secret:(.*)$/.exec(id)?.[1] ?? id;
}
