// Ollama's own client, and langchaingo.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	parse "net/url"

	"github.com/ollama/ollama/api"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
)

func ollamaStream(client *api.Client, request api.ChatRequest) (whole api.ChatResponse, err error) {
	err = client.Chat(ctx, &request, func(part api.ChatResponse) error {
		content, thinking, calls := whole.Message.Content, whole.Message.Thinking, whole.Message.ToolCalls
		whole = part
		whole.Message.Content = content + part.Message.Content
		whole.Message.Thinking = thinking + part.Message.Thinking
		whole.Message.ToolCalls = append(calls, part.Message.ToolCalls...)
		return nil
	})
	return whole, err
}

func ollamaChat() {
	base, _ := parse.Parse(url)
	client := api.NewClient(base, http.DefaultClient)
	user := func(model, text string) api.ChatRequest {
		return api.ChatRequest{Model: model, Messages: []api.Message{{Role: "user", Content: text}}, Think: &api.ThinkValue{Value: true}}
	}
	no := false
	request := user("mine", "Hi there")
	request.Stream = &no
	whole, err := ollamaStream(client, request)
	say("ollama chat", whole.Message.Content, whole.Message.Thinking, whole.DoneReason, whole.PromptEvalCount > 9 && whole.EvalCount > 9, told(err))
	whole, err = ollamaStream(client, user("mine", "Hi there"))
	say("ollama stream", whole.Message.Content, whole.Message.Thinking, whole.DoneReason, whole.PromptEvalCount > 9 && whole.EvalCount > 9, whole.CreatedAt.Year() > 2000, told(err))
	request = user("mine", "Use the tide tool")
	properties := api.NewToolPropertiesMap()
	properties.Set("at", api.ToolProperty{Type: api.PropertyType{"string"}})
	request.Tools = api.Tools{{Type: "function", Function: api.ToolFunction{Name: "look", Parameters: api.ToolFunctionParameters{Type: "object", Required: []string{"at"}, Properties: properties}}}}
	whole, err = ollamaStream(client, request)
	calls := []any{}
	request.Messages = append(request.Messages, whole.Message)
	for _, call := range whole.Message.ToolCalls {
		calls = append(calls, []any{call.Function.Name, call.Function.Arguments.ToMap(), call.Function.Index})
		request.Messages = append(request.Messages, api.Message{Role: "tool", ToolName: "look", ToolCallID: call.ID, Content: result(call.Function.Arguments.String())})
	}
	second, failed := ollamaStream(client, request)
	say("ollama tools", second.Message.Content, calls, told(err), told(failed))
	request = user("mine", "Say it as JSON")
	request.Format, _ = json.Marshal(schema)
	whole, err = ollamaStream(client, request)
	say("ollama form", parsed(whole.Message.Content), told(err))
	for what, one := range map[string][]string{"long": {"mine", long}, "unknown": {"unknown", "Hi"}, "gone": {"gone", "Hi"}, "dies": {"mine", "Die midway"}, "fails": {"mine", "Fail midway"}} {
		_, err = ollamaStream(client, user(one[0], one[1]))
		if failed, is := err.(api.StatusError); is {
			say("ollama "+what, failed.StatusCode, failed.ErrorMessage)
		} else {
			say("ollama "+what, told(err))
		}
	}
	listed, err := client.List(ctx)
	running, failed := client.ListRunning(ctx)
	shown, third := client.Show(ctx, &api.ShowRequest{Model: "mine"})
	version, fourth := client.Version(ctx)
	say("ollama models", len(listed.Models), listed.Models[0].Name, len(running.Models), shown.Capabilities, version, told(err), told(failed), told(third), told(fourth))
	text, thinking := "", ""
	err = client.Generate(ctx, &api.GenerateRequest{Model: "mine", Prompt: "Hi there", Think: &api.ThinkValue{Value: true}}, func(part api.GenerateResponse) error {
		text += part.Response
		thinking += part.Thinking
		return nil
	})
	say("ollama generate", text, thinking, told(err))
}

func langchain(name string, model llms.Model, err error) {
	if err != nil {
		say("langchaingo "+name, told(err))
		return
	}
	user := func(text string) []llms.MessageContent {
		return []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, text)}
	}
	whole, err := model.GenerateContent(ctx, user("Hi there"), llms.WithMaxTokens(900))
	if err != nil {
		say("langchaingo "+name+" chat", told(err))
	} else {
		say("langchaingo "+name+" chat", whole.Choices[0].Content, whole.Choices[0].ReasoningContent, whole.Choices[0].StopReason)
	}
	text := ""
	streaming := llms.WithStreamingFunc(func(_ context.Context, piece []byte) error {
		text += string(piece)
		return nil
	})
	whole, err = model.GenerateContent(ctx, user("Hi there"), streaming, llms.WithMaxTokens(900))
	if err != nil {
		say("langchaingo "+name+" stream", told(err))
	} else {
		say("langchaingo "+name+" stream", text, whole.Choices[0].Content)
	}
	_, err = model.GenerateContent(ctx, user("Die midway"), streaming, llms.WithMaxTokens(900))
	say("langchaingo "+name+" dies", told(err))
	_, err = model.GenerateContent(ctx, user(long), llms.WithMaxTokens(900))
	say("langchaingo "+name+" long", told(err))
	if name == "ollama" {
		return
	}
	messages := user("Use the tide tool")
	tools := []llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "look", Description: "Looks.", Parameters: parameters}}}
	for _, way := range [][]llms.CallOption{{}, {streaming}} {
		messages = messages[:1]
		options := append(way, llms.WithTools(tools), llms.WithMaxTokens(900))
		first, err := model.GenerateContent(ctx, messages, options...)
		if err != nil {
			say("langchaingo "+name+" tools", told(err))
			continue
		}
		calls := []any{}
		for _, choice := range first.Choices {
			for _, call := range choice.ToolCalls {
				calls = append(calls, []any{call.FunctionCall.Name, parsed(call.FunctionCall.Arguments)})
				// A message for each call: its client of Anthropic sends the first call of a message alone.
				said := llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{call}}
				answer := llms.ToolCallResponse{ToolCallID: call.ID, Name: "look", Content: result(call.FunctionCall.Arguments)}
				messages = append(messages, said, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{answer}})
			}
		}
		second, err := model.GenerateContent(ctx, messages, llms.WithTools(tools), llms.WithMaxTokens(900))
		shown := ""
		if err == nil {
			shown = second.Choices[len(second.Choices)-1].Content
		}
		say("langchaingo "+name+" tools", shown, calls, told(err))
	}
}

func langchains() {
	byOpenai, err := openai.New(openai.WithBaseURL(url+"/v1"), openai.WithToken("none"), openai.WithModel("mine"))
	langchain("openai", byOpenai, err)
	byAnthropic, err := anthropic.New(anthropic.WithBaseURL(url+"/v1"), anthropic.WithToken("none"), anthropic.WithModel("mine"))
	langchain("anthropic", byAnthropic, err)
	byOllama, err := ollama.New(ollama.WithServerURL(url), ollama.WithModel("mine"))
	langchain("ollama", byOllama, err)
}
