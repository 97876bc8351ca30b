// Runs in the inspector's page before its own scripts, for inspect_page_test.py: counts what the browser refused, and
// measures contrast.
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));

(() => {
  const parse = (color) => {
    const numbers = color.match(/[\d.]+/g).map(Number);
    const scale = color.startsWith("color(") ? 255 : 1;
    return [...numbers.slice(0, 3).map((one) => one * scale), numbers[3] ?? 1];
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.unshift(parse(getComputedStyle(at).backgroundColor));
    return layers.reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const light = (color) => {
    const [red, green, blue] = color.slice(0, 3).map((one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  /** Texts in sight whose contrast is less than WCAG's AA asks for small ones. */
  window.paleTexts = () => {
    const pale = new Set();
    let seen = 0;
    for (const element of document.querySelectorAll("body *")) {
      const text = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
      if (text.length === 0 || !element.checkVisibility({ contentVisibilityAuto: true }) || element.closest(".skip, noscript, [aria-hidden]")) continue;
      const [paper, ink] = [ground(element), over(parse(getComputedStyle(element).color), ground(element))].map(light);
      const contrast = (Math.max(paper, ink) + 0.05) / (Math.min(paper, ink) + 0.05);
      ++seen;
      if (contrast < 4.5) pale.add(`${element.tagName}.${element.className} ${contrast.toFixed(2)} ${text[0].data.trim().slice(0, 20)}`);
    }
    return { seen, pale: [...pale] };
  };
  /** The animation that this class gives. */
  window.animationOf = (name) => {
    const made = document.createElement("i");
    made.className = name;
    document.body.append(made);
    const animation = getComputedStyle(made).animationName;
    made.remove();
    return animation;
  };
  /** What people reach by keys and cannot name. */
  window.namelessControls = () =>
    [...document.querySelectorAll("button, input, [tabindex='0'], [role='tabpanel'], nav, section.pane")]
      .filter((element) => element.checkVisibility())
      .filter((element) => !(element.textContent.trim() && element.matches("button")) && !element.labels?.length && !element.hasAttribute("aria-label") && !element.hasAttribute("aria-labelledby"))
      .map((element) => element.outerHTML.slice(0, 80));
})();
