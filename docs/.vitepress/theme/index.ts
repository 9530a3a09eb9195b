// The default theme, with a home page made of the README and a crash to try.
import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import CrashPicker from "./CrashPicker.vue";
import HomePage from "./HomePage.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("CrashPicker", CrashPicker);
    // The layout of docs/README.md, by the name that config.ts gives it.
    app.component("HomePage", HomePage);
  },
} satisfies Theme;
