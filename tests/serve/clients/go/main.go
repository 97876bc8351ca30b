// Go's clients of the three APIs: `clients URL`. Each step is a line of JSON: its name and value.
package main

import (
	"encoding/json"
	"os"
	"strings"
)

var (
	url    = os.Args[1]
	long   = strings.Repeat("water ", 6000)
	levels = map[string]string{"Köln 🌊": "3.2 m", "Lima": "1.1 m"}
	schema = map[string]any{
		"type": "object", "required": []string{"place", "metres"}, "additionalProperties": false,
		"properties": map[string]any{"place": map[string]any{"type": "string"}, "metres": map[string]any{"type": "integer"}},
	}
	parameters = map[string]any{
		"type": "object", "required": []string{"at"}, "additionalProperties": false,
		"properties": map[string]any{"at": map[string]any{"type": "string"}},
	}
)

type look struct {
	At string `json:"at"`
}

func result(arguments string) string {
	var asked look
	if err := json.Unmarshal([]byte(arguments), &asked); err != nil {
		return err.Error()
	}
	return "The water of " + asked.At + " stands at " + levels[asked.At]
}

func say(step string, values ...any) {
	line := json.NewEncoder(os.Stdout)
	line.SetEscapeHTML(false)
	if err := line.Encode([]any{step, values}); err != nil {
		panic(err)
	}
}

// What went wrong, or nothing.
func told(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	return text[:min(len(text), 300)]
}

func parsed(arguments string) any {
	var value any
	if err := json.Unmarshal([]byte(arguments), &value); err != nil {
		return err.Error()
	}
	return value
}

func main() {
	openaiChat()
	openaiResponses()
	sashabaranov()
	anthropicMessages()
	ollamaChat()
	langchains()
}
