/** Puts the page into its document. */
import { render } from "preact";
import { App } from "./app.tsx";
import { showAllText } from "./shown.ts";

showAllText();
render(<App />, document.getElementById("app")!);
