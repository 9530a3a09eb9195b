import { executionStarted } from "onceonly/reconciler";
import { describe, expect, it } from "vitest";
import { questionAfter } from "./given.ts";

const ARN = "arn:aws:states:eu-central-1:123456789012:execution:fulfil:order-7";

/** The client of the SDK as its errors and answers look: https://docs.aws.amazon.com/step-functions/latest/apireference/ */
const clientWith = (answer: object | Error) => ({
  asked: [] as string[],
  async describeExecution({ executionArn }: { executionArn: string }) {
    this.asked.push(executionArn);
    if (answer instanceof Error) throw answer;
    return answer;
  },
});

const verifierOf = (client: ReturnType<typeof clientWith>) =>
  executionStarted({ client, executionArn: () => ARN, result: ({ executionArn }) => ({ executionArn }) });

describe("executionStarted", () => {
  it.each(["RUNNING", "SUCCEEDED", "FAILED"])("H42: an execution that is %s was started", async (status) => {
    const client = clientWith({ executionArn: ARN, status });

    expect(await verifierOf(client)(questionAfter(0, {}))).toEqual({
      outcome: "happened",
      result: { executionArn: ARN },
      evidence: { asked: "DescribeExecution", answered: status },
    });
    expect(client.asked).toEqual([ARN]);
  });

  it("H42: an execution that is not there was not started, once the description has caught up", async () => {
    const missing = Object.assign(new Error("Execution Does Not Exist"), { name: "ExecutionDoesNotExist" });
    const verify = verifierOf(clientWith(missing));

    expect(await verify(questionAfter(10, {}))).toMatchObject({ outcome: "unknown" });
    expect(await verify(questionAfter(60, {}))).toEqual({
      outcome: "did-not-happen",
      evidence: { asked: "DescribeExecution", answered: "ExecutionDoesNotExist" },
    });
  });

  it("leaves any other error to its caller, and refuses options that cannot work", async () => {
    const denied = Object.assign(new Error("no"), { name: "AccessDeniedException" });

    await expect(verifierOf(clientWith(denied))(questionAfter(600, {}))).rejects.toThrow("no");
    expect(() => verifierOf({} as ReturnType<typeof clientWith>)).toThrow("`client` must be");
  });
});
