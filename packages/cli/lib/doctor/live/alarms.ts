/** Alarms as they live, by name. */
import { TYPES } from "../diagnosed-stack.ts";
import { inTime, type LiveClients } from "./clients.ts";
import { alarmProperties } from "./descriptions.ts";
import { type LiveModel, look, unseenOf } from "./model.ts";

/** CloudWatch takes so many names at once. */
const AT_ONCE = 100;

/** @param names one with a star at its end stands for all that begin so */
export async function describeAlarms(
  clients: LiveClients,
  model: LiveModel,
  names: readonly string[],
  region: string,
): Promise<void> {
  const exact = names.filter((name) => !name.endsWith("*"));
  for (let first = 0; first < exact.length; first += AT_ONCE) {
    const AlarmNames = exact.slice(first, first + AT_ONCE);
    const found = await alarms({ AlarmNames, MaxRecords: AT_ONCE });
    for (const name of AlarmNames.filter((each) => found && !found.includes(each)))
      model.without(TYPES.alarm, model.idOf(TYPES.alarm, { region, name }), { is: "gone" });
  }
  for (const name of names.filter((each) => each.endsWith("*")))
    await alarms({ AlarmNamePrefix: name.slice(0, -1) });

  async function alarms(of: object): Promise<readonly string[] | undefined> {
    const found: string[] = [];
    let NextToken: string | undefined;
    do {
      const answer = await look("cloudwatch:DescribeAlarms", async () => {
        const cloudwatch = await clients.of("cloudwatch", region);
        return cloudwatch.describeAlarms({ ...of, ...(NextToken !== undefined && { NextToken }) }, inTime());
      });
      if (answer.is === "unseen") model.sight.add({ ...unseenOf(answer, "alarms"), types: [TYPES.alarm] });
      if (answer.is !== "seen") return undefined;
      for (const alarm of answer.value.MetricAlarms ?? []) {
        const name = `${alarm.AlarmName}`;
        found.push(name);
        model.add(TYPES.alarm, model.idOf(TYPES.alarm, { region, name }), alarmProperties(alarm, dimension));
      }
      NextToken = answer.value.NextToken;
    } while (NextToken !== undefined);
    return found;
  }

  function dimension(kind: string, name: string): unknown {
    if (kind === "FunctionName") return model.refer(TYPES.function, { region, name });
    return kind === "QueueName" ? model.refer(TYPES.queue, { region, name }) : name;
  }
}
