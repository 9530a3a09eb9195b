/** The unsent messages of a commit, and what a person can decide about each. Bodies are payloads, and only shown if asked for. */
import { useState } from "preact/hooks";
import type { KeyLife, MessageBody, OpenMessage } from "../look.ts";
import type { Perform } from "./act-button.tsx";
import { ask } from "./ask.ts";
import { type Decision, DecisionButtons } from "./decision-form.tsx";

export interface MessagesProps {
  readonly life: KeyLife;
  readonly perform: Perform;
}

export function Messages({ life: { keyHash, messages }, perform }: MessagesProps) {
  const [bodies, setBodies] = useState<readonly MessageBody[] | undefined>();
  const [problem, setProblem] = useState("");
  if (messages.length === 0) return null;
  const toggle = async () => {
    setProblem("");
    if (bodies) return setBodies(undefined);
    try {
      setBodies((await ask<{ bodies: readonly MessageBody[] }>("bodies", { keyHash })).bodies);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const decide: Perform = async (act) => {
    const answer = await perform(act);
    // An edit replaces what is shown.
    if (answer.done) setBodies(undefined);
    return answer;
  };
  return (
    <>
      <p class="acts">
        <button type="button" aria-expanded={bodies !== undefined} onClick={toggle}>
          {bodies ? "Hide bodies" : "Show bodies"}
          <span class="hidden"> of unsent messages</span>
        </button>
      </p>
      {problem && <p role="alert">{problem}</p>}
      {messages.map((message) => (
        <Message
          key={message.place}
          message={message}
          shown={bodies?.[message.place]}
          keyHash={keyHash}
          perform={decide}
        />
      ))}
    </>
  );
}

interface MessageProps {
  readonly message: OpenMessage;
  readonly shown: MessageBody | undefined;
  readonly keyHash: string;
  readonly perform: Perform;
}

function Message({ message, shown, keyHash, perform }: MessageProps) {
  const { place, destination, state, code } = message;
  return (
    <div class="step-acts">
      <p>
        message {place} to {destination}: {state}
        {code && `, ${code}`}
      </p>
      {shown && (
        <>
          <p class="hash">key {shown.key}</p>
          <p class="body">{shown.body}</p>
        </>
      )}
      <DecisionButtons
        about={`for message ${place}`}
        decisions={decisionsFor(place, keyHash, shown?.body)}
        perform={perform}
      />
    </div>
  );
}

function decisionsFor(place: number, keyHash: string, body: string | undefined): readonly Decision[] {
  const act = (name: string) => ({ act: name, key: keyHash, message: `${place}` });
  return [
    ...(body === undefined ? [] : [editOf(body, act("edit"))]),
    {
      act: act("retry"),
      name: "Send again",
      consequences: ["it's sent as if it had never been tried"],
      confirm: "Send it again",
    },
    {
      act: act("redirect"),
      name: "Redirect",
      fields: [
        {
          name: "kind",
          label: "New destination",
          choices: [
            ["queue", "queue"],
            ["topic", "topic"],
            ["bus", "event bus"],
          ],
        },
        { name: "address", label: "Its URL, ARN or name" },
        { name: "source", label: "Source", when: ["kind", "bus"], isOptional: true },
        { name: "detail-type", label: "Detail type", when: ["kind", "bus"], isOptional: true },
        {
          name: "message-group",
          label: "Message group, for FIFO",
          when: ["kind", "queue", "topic"],
          isOptional: true,
        },
      ],
      consequences: ["it's sent to the new destination only"],
      confirm: "Send it there",
    },
    {
      act: act("drop"),
      name: "Drop",
      consequences: ["it's never sent: this can't be taken back"],
      confirm: "Drop it for good",
    },
  ];
}

/** A text field can't keep a carriage return. */
function editOf(body: string, act: Decision["act"]): Decision {
  const isChanged = body.includes("\r");
  return {
    act,
    name: "Edit",
    fields: [{ name: "body", label: "Body", initial: body, isLong: true }],
    consequences: [
      "it's sent under a new key, so consumers see another message; the commit keeps the former key",
      ...(isChanged
        ? ["this form ends lines with LF instead of CR LF: `onceonly outbox edit` keeps them"]
        : []),
    ],
    confirm: "Send the edited message",
  };
}
