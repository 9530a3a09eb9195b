/** The decisions that an operator can make about one key, and about each step whose outcome is unknown. */
import { CONSEQUENCES } from "../../consequences.ts";
import type { KeyChoice, KeyLife } from "../look.ts";
import type { Perform } from "./act-button.tsx";
import { type Decision, DecisionButtons } from "./decision-form.tsx";
import { agoOf } from "./words.ts";

function decisionsFor(
  choice: KeyChoice,
  { keyHash, isHttp, forkSteps, state }: KeyLife,
): readonly Decision[] {
  const answer = isHttp ? ("response" as const) : ("json" as const);
  const happened: Decision = {
    act: { act: "happened", key: keyHash },
    name: "It happened",
    answer,
    consequences: ["every caller will get this answer", CONSEQUENCES.happened],
    confirm: "Record: it happened",
  };
  const didNot: Decision = {
    act: { act: "did-not-happen", key: keyHash },
    name: "It did not happen",
    consequences: [CONSEQUENCES.runs],
    confirm: "Record: it did not happen",
  };
  const correcting = ({ act, name, consequences, ...more }: Decision): Decision => ({
    ...more,
    act: { ...act, correct: "yes" },
    name: `Correct: ${name.toLowerCase()}`,
    consequences: [CONSEQUENCES.answered, ...consequences],
  });
  switch (choice) {
    case "happened":
      return [happened];
    case "did-not-happen":
      return [didNot];
    case "correct":
      return [correcting(happened), correcting(didNot)];
    case "release":
      return [
        {
          act: { act: "release", key: keyHash },
          name: "Release",
          consequences: [CONSEQUENCES.released],
          confirm: "Release the key",
        },
      ];
    case "rerun":
      return [
        {
          act: { act: "rerun", key: keyHash },
          name: "Run again",
          consequences: [
            "the next call runs the handler again, with the same child keys",
            CONSEQUENCES.rerun,
          ],
          confirm: "Let it run again",
        },
      ];
    case "fork":
      return [
        {
          act: { act: "fork", key: keyHash },
          name: "Fork",
          forkSteps,
          consequences: [
            "the results of the steps before it are copied to the new key; all others run again",
            CONSEQUENCES.forked,
            /^(completed|failed)$/.test(state)
              ? "callers of this key keep getting its answer"
              : "this key never runs again: its callers get an error from now on",
          ],
          confirm: "Fork to the new key",
        },
      ];
  }
}

function stepDecisions(step: string, keyHash: string): readonly Decision[] {
  return [
    {
      act: { act: "happened", key: keyHash, step },
      name: "It happened",
      answer: "step",
      consequences: [CONSEQUENCES.stepHappened],
      confirm: "Record: the step happened",
    },
    {
      act: { act: "did-not-happen", key: keyHash, step },
      name: "It did not happen",
      consequences: [CONSEQUENCES.runs, "it runs this step, and continues after it"],
      confirm: "Record: the step did not happen",
    },
  ];
}

export interface KeyActsProps {
  readonly life: KeyLife;
  readonly now: number;
  readonly perform: Perform;
}

export function KeyActs({ life, now, perform }: KeyActsProps) {
  const { choices, openSteps, keyHash, state, attempt, createdAt } = life;
  const decisions = choices.flatMap((choice) => decisionsFor(choice, life));
  if (decisions.length === 0) return null;
  const fact = `this key is ${state}, first claimed ${agoOf(createdAt, now)}, attempt ${attempt}`;
  const withFact = (all: readonly Decision[]) =>
    all.map((each) => ({ ...each, consequences: [fact, ...each.consequences] }));
  return (
    <>
      {openSteps.map((step) => (
        <div key={step} class="step-acts">
          <p>step {step}: begun, outcome unknown</p>
          <DecisionButtons
            about={`for step ${step}`}
            decisions={withFact(stepDecisions(step, keyHash))}
            perform={perform}
          />
        </div>
      ))}
      {openSteps.length > 0 && <p>the whole key, whatever became of its steps:</p>}
      <DecisionButtons about="for the key" decisions={withFact(decisions)} perform={perform} />
    </>
  );
}
