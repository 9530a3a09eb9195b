import { describe, expect, it } from "vitest";
import { readOptions } from "../../../show/campaign/options.ts";

describe("the options of the campaign", () => {
  it("are all modes for two minutes, each after its control, by default", () => {
    expect(readOptions([])).toMatchObject({
      modes: ["claimed", "optimistic", "messages"],
      minutes: 2,
      skew: "within",
      control: "first",
      client: "both",
    });
  });

  it("accept one mode for half an hour, and where to write its summary", () => {
    const options = readOptions(["--mode", "claimed", "--minutes", "30", "--summary", "summary.json"]);

    expect(options).toMatchObject({ modes: ["claimed"], minutes: 30, summary: "summary.json" });
  });

  it.each([
    ["--mode", "fast", "--mode must be one of all, claimed, optimistic, messages"],
    ["--minutes", "0", "--minutes must be a number from 0.25 to 600"],
    ["--hosts", "1", "--hosts must be a whole number from 2 to 32"],
    ["--client", "fetch", "--client must be one of sdk, lean, both"],
    ["--engine", "sqlite", "--engine must be one of dynamodb-local, dynoxide"],
  ])("refuse %s %s", (name, value, message) => {
    expect(() => readOptions([name, value])).toThrow(message);
  });
});
