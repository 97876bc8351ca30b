// What the JavaScript clients share: `node NAME.mjs URL` from a folder that has the packages. Each step is a line of JSON: its name and value.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.cwd() + "/x.js");
export const load = async (name) => import(pathToFileURL(require.resolve(name)));
export const url = process.argv[2];
export const LONG = "water ".repeat(6000);
export const levels = { "Köln 🌊": "3.2 m", Lima: "1.1 m" };
export const result = ({ at }) => `The water of ${at} stands at ${levels[at]}`;
export const say = (step, value) => console.log(JSON.stringify([step, value]));

// What fails says how: as the client tells its user.
export const fails = async (step, work, told) => {
  try {
    say(step, await work());
  } catch (error) {
    say(step, told(error));
  }
};

export const attempt = async (step, work) => {
  try {
    const value = await work();
    if (value !== undefined) say(step, value);
  } catch (error) {
    say(step, `${error.name}: ${error.message}`.slice(0, 600));
  }
};
