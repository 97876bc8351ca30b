// How numbers, times and invisible characters are shown.
const NUMBER = new Intl.NumberFormat("en-US");
export function count(value) {
    return NUMBER.format(value);
}
export function counted(value, one, many = one + "s") {
    return `${count(value)} ${value === 1 ? one : many}`;
}
export function duration(milliseconds) {
    if (milliseconds < 10_000)
        return `${count(milliseconds)} ms`;
    return `${(milliseconds / 1000).toFixed(1)} s`;
}
/** The time of day here; the date too, where it is not today. */
export function clock(time) {
    const at = new Date(time);
    if (Number.isNaN(at.getTime()))
        return time;
    const day = at.toDateString() === new Date().toDateString() ? "" : `${at.toLocaleDateString("en-CA")} `;
    return day + at.toLocaleTimeString("en-GB");
}
export function percent(part, whole) {
    return whole === 0 ? "" : `${Math.floor((100 * part) / whole)} %`;
}
const VISIBLE = { " ": "·", "\n": "↵", "\t": "⇥", "\r": "␍", "\u00a0": "⍽", "\u007f": "␡" };
// Those that turn or join what stands beside them: a text could hide behind them.
const INVISIBLE = /[\s\u0000-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
/** The text with a sign for each character that has none. */
export function visible(text) {
    return text.replace(INVISIBLE, (character) => {
        const code = character.charCodeAt(0);
        if (VISIBLE[character])
            return VISIBLE[character];
        if (code < 32)
            return String.fromCharCode(0x2400 + code);
        return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    });
}
export function hexBytes(bytes) {
    return bytes.map((byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");
}
const ENCODER = new TextEncoder();
/** How many bytes of UTF-8 the text has. */
export function byteLength(text) {
    return ENCODER.encode(text).length;
}
/** The index in `text` at which its first `bytes` bytes end. */
export function indexOfByte(text, bytes) {
    let seen = 0;
    let at = 0;
    for (const character of text) {
        if (seen >= bytes)
            break;
        const code = character.codePointAt(0) ?? 0;
        seen += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
        at += character.length;
    }
    return at;
}
