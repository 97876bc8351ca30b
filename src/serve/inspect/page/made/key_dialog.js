// Asks for the API key.
import { hasKey, setKey } from "./api.js";
import { byId } from "./dom.js";
export class KeyDialog {
    dialog = byId("key-dialog");
    field = byId("key");
    /** `changed`: there is another key. */
    constructor(changed) {
        byId("key-button").addEventListener("click", () => this.ask());
        byId("key-form").addEventListener("submit", (event) => {
            event.preventDefault();
            setKey(this.field.value.trim());
            this.field.value = "";
            this.dialog.close();
            changed();
        });
    }
    /** `refused`: the server did not take the key, if there is one. */
    ask(refused = false) {
        byId("key-wrong").textContent = refused && hasKey() ? "The server does not take this key." : "";
        if (!this.dialog.open)
            this.dialog.showModal();
        this.field.focus();
    }
}
