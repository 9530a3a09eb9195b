/** Rules and schedules that invoke senders, as they live. */
import { TYPES } from "../diagnosed-stack.ts";
import { runsEachMinute } from "../table-checks.ts";
import { inTime, type LiveClients } from "./clients.ts";
import { type LiveModel, type LivePlace, look, unseenOf } from "./model.ts";
import { placeOfArn } from "./places.ts";

export class LiveRules {
  readonly #clients: LiveClients;
  readonly #model: LiveModel;
  /** The ids of senders, by ARN. */
  readonly #senders = new Map<string, string>();
  #isSwept = false;

  constructor(clients: LiveClients, model: LiveModel) {
    this.#clients = clients;
    this.#model = model;
  }

  /**
   * The rules that run a sender.
   * @param arns those by which it may be called
   */
  async of(id: string, arn: string, arns: readonly string[]): Promise<void> {
    this.#senders.set(arn, id);
    const { region } = placeOfArn(arn);
    for (const TargetArn of arns) {
      const answer = await look("events:ListRuleNamesByTarget", async () => {
        const events = await this.#clients.of("eventbridge", region);
        return (await events.listRuleNamesByTarget({ TargetArn }, inTime())).RuleNames ?? [];
      });
      if (answer.is === "unseen")
        this.#model.sight.add({ ...unseenOf(answer, `rules that invoke ${id}`), types: [TYPES.rule] });
      if (answer.is !== "seen") continue;
      for (const name of answer.value) await this.#rule(id, { region, name });
    }
  }

  async #rule(target: string, place: LivePlace): Promise<void> {
    const id = this.#model.idOf(TYPES.rule, place);
    const answer = await look("events:DescribeRule", async () => {
      const events = await this.#clients.of("eventbridge", place.region);
      return events.describeRule({ Name: place.name }, inTime());
    });
    if (answer.is !== "seen") return this.#model.without(TYPES.rule, id, answer);
    this.#add(TYPES.rule, id, answer.value, target);
  }

  #add(
    type: string,
    id: string,
    found: { State?: string | undefined; ScheduleExpression?: string | undefined },
    Ref: string,
  ): void {
    const { State, ScheduleExpression } = found;
    const properties = { State: `${State}`, ScheduleExpression: `${ScheduleExpression}`, Target: { Ref } };
    this.#isSwept ||= runsEachMinute(properties);
    this.#model.add(type, id, properties);
  }

  /** @param isWhole whether all functions of a stack are among those that were looked at */
  async finish(isWhole: boolean): Promise<void> {
    if (!this.#isSwept) await this.#schedules();
    const isScheduled = this.#model.count(TYPES.rule) + this.#model.count(TYPES.schedule) > 0;
    if (isWhole || isScheduled) return;
    const remedy = "pass --function <name of the sweeper>, or add a rule that invokes it every minute";
    const why = "no rule invokes any of the given functions";
    this.#model.sight.add({ what: "the sweeper", why, remedy, types: [TYPES.rule, TYPES.schedule] });
  }

  /** Only listing all schedules leads to one, so this runs only if no rule was found. */
  async #schedules(): Promise<void> {
    for (const region of new Set([...this.#senders.keys()].map((arn) => placeOfArn(arn).region))) {
      let NextToken: string | undefined;
      do {
        const answer = await look("scheduler:ListSchedules", async () => {
          const scheduler = await this.#clients.of("scheduler", region);
          return scheduler.listSchedules(
            { MaxResults: 100, ...(NextToken !== undefined && { NextToken }) },
            inTime(),
          );
        });
        if (answer.is === "unseen")
          this.#model.sight.add({
            ...unseenOf(answer, "schedules that invoke senders"),
            types: [TYPES.schedule],
          });
        if (answer.is !== "seen") return;
        for (const { Name = "", GroupName, Target } of answer.value.Schedules ?? []) {
          const target = this.#senders.get(`${Target?.Arn}`.split(":").slice(0, 7).join(":"));
          if (target !== undefined) await this.#schedule(target, { region, name: Name }, GroupName);
        }
        NextToken = answer.value.NextToken;
      } while (NextToken !== undefined);
    }
  }

  async #schedule(target: string, place: LivePlace, GroupName: string | undefined): Promise<void> {
    const id = this.#model.idOf(TYPES.schedule, place);
    const answer = await look("scheduler:GetSchedule", async () => {
      const scheduler = await this.#clients.of("scheduler", place.region);
      return scheduler.getSchedule(
        { Name: place.name, ...(GroupName !== undefined && { GroupName }) },
        inTime(),
      );
    });
    if (answer.is !== "seen") return this.#model.without(TYPES.schedule, id, answer);
    this.#add(TYPES.schedule, id, answer.value, target);
  }
}
