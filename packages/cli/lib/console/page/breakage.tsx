/** The buttons of a local run: a duplicate, a kill, a lost answer, a destination that is down. */
import type { BreakageLook } from "../look.ts";
import { ActButton, type Perform } from "./act-button.tsx";

export interface BreakageProps {
  readonly breakage: BreakageLook;
  readonly perform: Perform;
}

export function Breakage({ breakage: { losesNext, functions, destinations }, perform }: BreakageProps) {
  return (
    <section aria-labelledby="breakage">
      <h2 id="breakage">Break it</h2>
      <p class="acts">
        <ActButton
          act={{ act: "lose" }}
          perform={perform}
          about="of DynamoDB to a write"
          disabled={losesNext}
        >
          Lose the next response
        </ActButton>
        {losesNext && <span class="note">Waiting for the next write.</span>}
      </p>
      <table>
        <caption class="hidden">Functions and destinations</caption>
        <thead>
          <tr>
            <th scope="col">Function or destination</th>
            <th scope="col">Do</th>
          </tr>
        </thead>
        <tbody>
          {functions.map(({ path, hasEvent, isToBeKilled }) => (
            <tr key={path}>
              <td>
                {path}
                {isToBeKilled && <small> dies after its next write</small>}
              </td>
              <td class="acts">
                <ActButton
                  act={{ act: "duplicate", path }}
                  perform={perform}
                  about={`to ${path}`}
                  disabled={!hasEvent}
                >
                  Send a duplicate
                </ActButton>
                <ActButton act={{ act: "kill", path }} perform={perform} about={path}>
                  Kill
                </ActButton>
              </td>
            </tr>
          ))}
          {destinations.map(({ path, isDown }) => (
            <tr key={path} class={isDown ? "alarming" : ""}>
              <td>
                {path}
                {isDown && <small> is down</small>}
              </td>
              <td class="acts">
                <ActButton act={{ act: "turn", path }} perform={perform} about={path}>
                  {isDown ? "Bring back" : "Take down"}
                </ActButton>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
