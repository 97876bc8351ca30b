// Fantasy, the clients of the coding agent Crush: `fantasy URL`. Each step is a line of JSON: its name and value.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"charm.land/fantasy"
	"charm.land/fantasy/object"
	"charm.land/fantasy/providers/anthropic"
	"charm.land/fantasy/providers/openai"
	"charm.land/fantasy/providers/openaicompat"
)

var (
	ctx    = context.Background()
	url    = os.Args[1]
	levels = map[string]string{"Köln 🌊": "3.2 m", "Lima": "1.1 m"}
)

type look struct {
	At string `json:"at" description:"where"`
}

type tide struct {
	Place  string `json:"place"`
	Metres int    `json:"metres"`
}

func say(step string, values ...any) {
	line, err := json.Marshal([]any{step, values})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func told(err error) []any {
	var failed *fantasy.ProviderError
	if errors.As(err, &failed) {
		return []any{failed.StatusCode, failed.IsContextTooLarge(), failed.Message[:min(len(failed.Message), 300)]}
	}
	if err != nil {
		return []any{err.Error()}
	}
	return nil
}

func streamed(step string, model fantasy.LanguageModel, prompt string, options ...fantasy.AgentOption) {
	text, thought := "", ""
	calls := []any{}
	call := fantasy.AgentStreamCall{
		Prompt:           prompt,
		OnTextDelta:      func(_, piece string) error { text += piece; return nil },
		OnReasoningDelta: func(_, piece string) error { thought += piece; return nil },
		OnToolCall: func(call fantasy.ToolCallContent) error {
			var input any
			if err := json.Unmarshal([]byte(call.Input), &input); err != nil {
				return err
			}
			calls = append(calls, []any{call.ToolName, input})
			return nil
		},
	}
	made, err := fantasy.NewAgent(model, append(options, fantasy.WithMaxRetries(0))...).Stream(ctx, call)
	usage := made != nil && made.TotalUsage.InputTokens+made.TotalUsage.CacheReadTokens > 9 && made.TotalUsage.OutputTokens > 9
	say(model.Provider()+" "+step, text, thought, calls, usage, told(err))
}

func all(provider fantasy.Provider, err error) {
	if err != nil {
		panic(err)
	}
	model, err := provider.LanguageModel(ctx, "mine")
	if err != nil {
		panic(err)
	}
	made, err := fantasy.NewAgent(model, fantasy.WithMaxRetries(0)).Generate(ctx, fantasy.AgentCall{Prompt: "Hi there"})
	if err != nil {
		say(model.Provider()+" chat", told(err))
	} else {
		say(model.Provider()+" chat", made.Response.Content.Text(), made.Response.Content.ReasoningText(), made.Response.FinishReason)
	}
	looks := fantasy.NewAgentTool("look", "Looks at the water.", func(_ context.Context, asked look, _ fantasy.ToolCall) (fantasy.ToolResponse, error) {
		return fantasy.NewTextResponse("The water of " + asked.At + " stands at " + levels[asked.At]), nil
	})
	for step, prompt := range map[string]string{"stream": "Hi there", "tools": "Use the tide tool", "dies": "Die midway", "fails": "Fail midway"} {
		streamed(step, model, prompt, fantasy.WithTools(looks))
	}
	form, err := object.Generate[tide](ctx, model, fantasy.ObjectCall{Prompt: fantasy.Prompt{fantasy.NewUserMessage("Say it as JSON")}})
	if err != nil {
		say(model.Provider()+" form", told(err))
	} else {
		say(model.Provider()+" form", form.Object)
	}
	for what, one := range map[string][]string{"long": {"mine", strings.Repeat("water ", 6000)}, "unknown": {"unknown", "Hi"}, "gone": {"gone", "Hi"}} {
		model, _ := provider.LanguageModel(ctx, one[0])
		_, err := fantasy.NewAgent(model, fantasy.WithMaxRetries(0)).Generate(ctx, fantasy.AgentCall{Prompt: one[1]})
		say(model.Provider()+" "+what, told(err)...)
	}
}

func main() {
	all(openaicompat.New(openaicompat.WithName("compatible"), openaicompat.WithBaseURL(url+"/v1"), openaicompat.WithAPIKey("none")))
	all(openai.New(openai.WithName("responses"), openai.WithBaseURL(url+"/v1"), openai.WithAPIKey("none"), openai.WithUseResponsesAPI(), openai.WithResponsesAPIFunc(func(string) bool { return true })))
	all(anthropic.New(anthropic.WithBaseURL(url), anthropic.WithAPIKey("none")))
}
