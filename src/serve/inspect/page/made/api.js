// Asks the server. The API key, where it wants one, is kept for this tab alone and goes into the header of each request.
const KEY = "parlance.key";
// Beside the page, so that it also works behind a proxy that serves it under a longer path.
const BASE = new URL("inspect/api/", document.baseURI);
/** The server wants another key. */
export class WrongKey extends Error {
}
/** There is no such thing, or not any more. */
export class Gone extends Error {
}
export function setKey(key) {
    if (key)
        sessionStorage.setItem(KEY, key);
    else
        sessionStorage.removeItem(KEY);
}
export function hasKey() {
    return sessionStorage.getItem(KEY) !== null;
}
/** The answer, once its header is there. Throws WrongKey, Gone, or what says why there is none. */
export async function request(path, signal) {
    const key = sessionStorage.getItem(KEY);
    const headers = key ? { Authorization: `Bearer ${key}` } : {};
    const answer = await fetch(new URL(path, BASE), { headers, cache: "no-store", credentials: "omit", signal: signal ?? null });
    if (answer.ok)
        return answer;
    const why = await reason(answer);
    if (answer.status === 401)
        throw new WrongKey(why);
    if (answer.status === 404)
        throw new Gone(why);
    throw new Error(why);
}
async function reason(answer) {
    try {
        return String((await answer.json()).error.message);
    }
    catch {
        return `the server answered with status ${answer.status}`;
    }
}
export async function get(path, signal) {
    return (await (await request(path, signal)).json());
}
export function sessionPath(id) {
    return `sessions/${encodeURIComponent(id)}`;
}
export function turnPath(id, number) {
    return `${sessionPath(id)}/turns/${number}`;
}
