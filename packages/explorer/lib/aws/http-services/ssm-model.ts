/** The parameters of SSM in memory, which functions read. */
import { AwsHttpError, type AwsHttpService, jsonService } from "./http-service.ts";

const PLACE = "us-east-1:000000000000";

export class SsmModel {
  readonly #values = new Map<string, string>();
  readonly service: AwsHttpService = jsonService(
    {
      GetParameter: ({ Name }) => {
        const Parameter = this.#parameter(String(Name));
        if (Parameter !== undefined) return { Parameter };
        throw new AwsHttpError("ParameterNotFound", 400, `no such parameter: ${Name}`);
      },
      GetParameters: ({ Names }) => {
        const names = Names as readonly string[];
        return {
          Parameters: names.flatMap((name) => this.#parameter(name) ?? []),
          InvalidParameters: names.filter((name) => this.#parameter(name) === undefined),
        };
      },
      GetParametersByPath: ({ Path, Recursive }) => {
        const path = String(Path).replace(/\/?$/, "/");
        const isBelow = (name: string) =>
          name.startsWith(path) && (Recursive === true || !name.slice(path.length).includes("/"));
        return {
          Parameters: [...this.#values.keys()].filter(isBelow).map((name) => this.#parameter(name)),
        };
      },
    },
    ({ Name, Names, Path }) => [Name ?? Names ?? Path].flat().map(String).join("+"),
  );

  set(name: string, value: string): void {
    this.#values.set(name, value);
  }

  /** A name may be an ARN, and may end in a version. */
  #parameter(nameOrArn: string): object | undefined {
    const [, path = nameOrArn] = /^arn:[^/]*:parameter(\/.*)$/.exec(nameOrArn) ?? [];
    const Name = [path, path.replace(/:[^:/]+$/, ""), path.slice(1)].find((name) => this.#values.has(name));
    if (Name === undefined) return undefined;
    const ARN = `arn:aws:ssm:${PLACE}:parameter/${Name.replace(/^\//, "")}`;
    return { ARN, Name, Value: this.#values.get(Name), Type: "String", DataType: "text", Version: 1 };
  }
}
