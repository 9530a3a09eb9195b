/** The decisions that an operator can make about one key, and about each step whose outcome is unknown. */
import { CONSEQUENCES } from "../../consequences.ts";
import type { KeyChoice, KeyLife } from "../look.ts";
import type { Perform } from "./act-button.tsx";
import { type Decision, DecisionButtons, type Field } from "./decision-form.tsx";
import { agoOf } from "./words.ts";

function decisionsFor(
  choice: KeyChoice,
  { keyHash, operation, isHttp, forkSteps, state }: KeyLife,
): readonly Decision[] {
  const happened: Decision = {
    act: { act: "happened", key: keyHash },
    name: "It happened",
    fields: answerFields(isHttp),
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
    case "interrupt":
      return [
        {
          act: { act: "release", key: keyHash, interrupt: "yes" },
          name: "End the lease",
          consequences: [CONSEQUENCES.interrupted, CONSEQUENCES.released],
          confirm: "End the lease",
        },
      ];
    case "erase":
      return [
        {
          act: { act: "erase", key: keyHash },
          name: "Erase",
          fields: [typedField(operation)],
          consequences: [CONSEQUENCES.erased],
          confirm: "Erase the answer for good",
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
          fields: [
            {
              name: "from",
              label: "First step that runs again",
              choices: forkSteps.map((step) => [step, step] as const),
            },
            { name: "as", label: "New idempotency key", maxLength: 255 },
          ],
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

/** The answer that callers get: a JSON value, or a whole response. */
export const answerFields = (isHttp: boolean): readonly Field[] => [
  {
    name: "kind",
    label: "Answer that callers get",
    initial: isHttp ? "response" : "json",
    choices: [
      ["json", "JSON value"],
      ["response", "HTTP response"],
    ],
  },
  { name: "answer", label: "Answer (JSON, or null)", when: ["kind", "json"] },
  {
    name: "status",
    label: "Status",
    initial: "200",
    number: ["[1-5][0-9][0-9]", "a status from 100 to 599"],
    when: ["kind", "response"],
  },
  { name: "body", label: "Body", isLong: true, isOptional: true, when: ["kind", "response"] },
];

/** Before something goes for good. */
export const typedField = (expected: string): Field => ({
  name: "typed",
  label: `Type ${expected} to confirm`,
});

function stepDecisions(step: string, keyHash: string): readonly Decision[] {
  return [
    {
      act: { act: "happened", key: keyHash, step },
      name: "It happened",
      fields: [{ name: "answer", label: "Result of the step (JSON, or null)" }],
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
