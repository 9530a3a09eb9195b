/** The page: looks again every few seconds, unless it is paused or hidden. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ActAnswer, ConsoleLook, KeyLife } from "../look.ts";
import type { Perform } from "./act-button.tsx";
import { ask } from "./ask.ts";
import { Breakage } from "./breakage.tsx";
import { Decisions } from "./decisions.tsx";
import { Groups } from "./groups.tsx";
import { Life } from "./life.tsx";
import { Owner } from "./owner.tsx";
import { Queues } from "./queues.tsx";
import { moveBetweenKeys, Records } from "./records.tsx";
import { clockOf } from "./words.ts";

export function App() {
  const [look, setLook] = useState<ConsoleLook | undefined>();
  const [problem, setProblem] = useState<string | undefined>();
  const [isPaused, setPaused] = useState(false);
  const [message, setMessage] = useState("");
  const [opened, open, close] = useOpened();
  const life = useLife(opened, look);
  const refresh = useCallback(async () => {
    try {
      setLook(await ask<ConsoleLook>("look"));
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    }
  }, []);
  useEffect(() => {
    void refresh();
  }, [refresh]);
  const perform: Perform = useCallback(
    async (act) => {
      const answer = await ask<ActAnswer>("act", act).catch((error: Error) => ({
        done: false,
        message: error.message,
      }));
      setMessage(answer.message);
      // Not awaited: what an answer does to the focus comes before the person goes on.
      void refresh();
      return answer;
    },
    [refresh],
  );
  const refreshMs = look?.refreshMs ?? 2000;
  useEffect(() => {
    if (isPaused) return;
    const timer = setInterval(() => document.hidden || void refresh(), refreshMs);
    return () => clearInterval(timer);
  }, [refresh, refreshMs, isPaused]);
  useKeys({
    p: () => setPaused((was) => !was),
    r: () => void refresh(),
    "/": () => document.getElementById("find-operation")?.focus(),
    ArrowDown: () => moveBetweenKeys(1, opened),
    ArrowUp: () => moveBetweenKeys(-1, opened),
    Escape: close,
  });
  useFocusOn(life.life?.keyHash);

  return (
    <>
      <header class="top">
        <h1>onceonly</h1>
        <p>{look?.title ?? "looking …"}</p>
        <p class={look?.mayWrite ? "badge writes" : "badge"}>{look?.mayWrite ? "may write" : "read-only"}</p>
        <p class="spacer">{look && <time>{clockOf(look.at)} UTC</time>}</p>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          Pause <kbd>p</kbd>
        </button>
        <button type="button" onClick={() => void refresh()}>
          Look again <kbd>r</kbd>
        </button>
      </header>
      {problem && (
        <p role="alert" class="problem">
          {problem}
        </p>
      )}
      {look?.problems.map((each) => (
        <p role="alert" class="problem" key={each}>
          {each}
        </p>
      ))}
      <p role="status" class="outcome" id="outcome" tabIndex={-1}>
        {message}
      </p>
      {look && (
        <main>
          <Records look={look} open={open} opened={opened} />
          <Life
            {...{ open, close }}
            life={life.life}
            problem={life.problem}
            now={look.at}
            perform={look.mayWrite ? perform : undefined}
          />
          {look.local && <Decisions decisions={look.local.decisions} now={look.at} open={open} />}
          <Groups look={look} open={open} perform={perform} />
          {look.mayWrite && <Owner open={open} perform={perform} />}
          {look.local && <Queues queues={look.local.queues} mayWrite={look.mayWrite} perform={perform} />}
          {look.local && look.mayWrite && <Breakage breakage={look.local.breakage} perform={perform} />}
        </main>
      )}
      <footer>
        <p>
          <kbd>/</kbd> finds a key, <kbd>↑</kbd> <kbd>↓</kbd> move between records, <kbd>Esc</kbd> closes one.
        </p>
      </footer>
    </>
  );
}

/** The key that is open stands in the fragment by its hash, so that Back works. */
function useOpened() {
  const [opened, set] = useState(hashOfAddress);
  useEffect(() => {
    const read = () => set(hashOfAddress());
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const open = useCallback((keyHash: string) => {
    location.hash = keyHash;
  }, []);
  const close = useCallback(() => {
    if (location.hash !== "") location.hash = "";
  }, []);
  return [opened, open, close] as const;
}

const hashOfAddress = () => /^#([\w-]{43})$/.exec(location.hash)?.[1];

/** Reads the life of the open key again with every look. */
function useLife(keyHash: string | undefined, look: ConsoleLook | undefined) {
  const [state, set] = useState<{ life?: KeyLife; problem?: string }>({});
  useEffect(() => {
    if (keyHash === undefined) return set({});
    let isCurrent = true;
    ask<KeyLife>(`lives/${keyHash}`).then(
      (life) => isCurrent && set({ life }),
      (error: Error) => isCurrent && set({ problem: error.message }),
    );
    return () => {
      isCurrent = false;
    };
  }, [keyHash, look]);
  return state;
}

/** A key that is opened gets the focus, and the row that opened it gets it back. */
function useFocusOn(keyHash: string | undefined): void {
  const former = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    if (keyHash !== undefined) {
      const heading = document.getElementById("life-name");
      heading?.focus({ preventScroll: true });
      // On a phone the list is above it, and its buttons have to be in view.
      const block = matchMedia("(max-width: 900px)").matches ? "start" : "nearest";
      heading?.closest("section")?.scrollIntoView({ block });
    } else if (former.current !== undefined)
      document.querySelector<HTMLElement>(`button.key[title="${former.current}"]`)?.focus();
    former.current = keyHash;
  }, [keyHash]);
}

/** Keyboard shortcuts of the page, ignored while the user types. */
function useKeys(acts: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
      if (event.ctrlKey || event.metaKey || event.altKey || (isTyping && event.key !== "Escape")) return;
      const act = acts[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
}
