// Light, dark, or as the system has it. The choice is kept in the browser.
import { byId } from "./dom.js";

const KEPT = "parlance.theme";
const THEMES = ["system", "light", "dark"];

function use(theme: string): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
  byId("theme").textContent = `◐ ${theme}`;
}

export function startTheme(): void {
  const kept = localStorage.getItem(KEPT) ?? "system";
  let theme = THEMES.includes(kept) ? kept : "system";
  use(theme);
  byId("theme").addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] as string;
    localStorage.setItem(KEPT, theme);
    use(theme);
  });
}
