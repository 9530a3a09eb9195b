// Reads lines as CloudWatch Logs does: refuses what is not in the embedded metric format, and extracts the metrics.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html

export interface DataPoint {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly unit: string;
  readonly value: number;
}

interface Directive {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string; readonly Unit?: string }[];
}

/** One for each metric and each set of dimensions. */
export function dataPointsOf(line: string): DataPoint[] {
  check(!line.includes("\n"), "is more than one line");
  const { _aws: metadata, ...members } = JSON.parse(line);
  checkMembers(metadata, ["CloudWatchMetrics", "Timestamp"]);
  check(Number.isInteger(metadata.Timestamp), "has no whole number of milliseconds as its time");
  return metadata.CloudWatchMetrics.flatMap((directive: Directive) => pointsOf(directive, members));
}

export const allDataPoints = (lines: readonly string[]): DataPoint[] => lines.flatMap(dataPointsOf);

/** The members of a line that are neither metrics nor metadata, dimensions included. */
export function propertiesOf(line: string): Record<string, unknown> {
  const { _aws: metadata, ...members } = JSON.parse(line);
  const names = metadata.CloudWatchMetrics.flatMap(({ Metrics }: Directive) =>
    Metrics.map(({ Name }) => Name),
  );
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
}

function pointsOf(directive: Directive, members: Readonly<Record<string, unknown>>): DataPoint[] {
  checkMembers(directive, ["Dimensions", "Metrics", "Namespace"]);
  const { Namespace: namespace, Dimensions: sets, Metrics: metrics } = directive;
  check(isAscii(namespace) && !namespace.startsWith(":"), "has a namespace that CloudWatch does not take");
  check(sets.length > 0, "has no set of dimensions");
  check(metrics.length > 0 && metrics.length <= 100, "has no metrics, or more than 100");
  return sets.flatMap((set) => {
    check(set.length <= 30, "has a set of more than 30 dimensions");
    const dimensions = Object.fromEntries(set.map((name) => [name, dimension(members[name])]));
    return metrics.map((metric) => {
      for (const member of Object.keys(metric)) {
        check(["Name", "Unit", "StorageResolution"].includes(member), `says ${member} of a metric`);
      }
      const { Name: name, Unit: unit = "None" } = metric;
      const value = members[name];
      check(typeof value === "number", `has no number ${name}`);
      check(["Count", "Milliseconds"].includes(unit), `has the unit ${unit}`);
      return { namespace, name, dimensions, unit, value: value as number };
    });
  });
}

function dimension(value: unknown): string {
  check(isAscii(value), `has the dimension ${JSON.stringify(value)}`);
  return value as string;
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_Dimension.html */
function isAscii(value: unknown): boolean {
  return typeof value === "string" && /^[\x20-\x7e]{1,1024}$/.test(value) && value.trim() !== "";
}

function checkMembers(object: object, names: readonly string[]): void {
  check(Object.keys(object).sort().join() === names.join(), `has members other than ${names}`);
}

function check(holds: boolean, fault: string): void {
  if (!holds) throw new Error(`the line ${fault}`);
}
