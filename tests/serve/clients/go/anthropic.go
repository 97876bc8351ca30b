// Anthropic's SDK for Go.
package main

import (
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

var claude = anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))

func message(model, text string) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{
		Model: anthropic.Model(model), MaxTokens: 4000, Thinking: anthropic.ThinkingConfigParamOfEnabled(1024),
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(text))},
	}
}

func streamedMessage(params anthropic.MessageNewParams) (made anthropic.Message, err error) {
	stream := claude.Messages.NewStreaming(ctx, params)
	for stream.Next() {
		if err = made.Accumulate(stream.Current()); err != nil {
			return made, err
		}
	}
	return made, stream.Err()
}

func blocks(made *anthropic.Message) (shown []any) {
	for _, block := range made.Content {
		switch is := block.AsAny().(type) {
		case anthropic.TextBlock:
			shown = append(shown, []any{"text", is.Text})
		case anthropic.ThinkingBlock:
			shown = append(shown, []any{"thinking", is.Thinking, is.Signature != ""})
		case anthropic.ToolUseBlock:
			shown = append(shown, []any{is.Name, parsed(string(is.Input))})
		default:
			shown = append(shown, block.RawJSON())
		}
	}
	return shown
}

func anthropicMessages() {
	whole, err := claude.Messages.New(ctx, message("mine", "Hi there"))
	say("anthropic chat", blocks(whole), whole.StopReason, whole.Usage.InputTokens+whole.Usage.CacheReadInputTokens > 9, told(err))
	made, err := streamedMessage(message("mine", "Hi there"))
	say("anthropic stream", blocks(&made), made.StopReason, made.Usage.InputTokens+made.Usage.CacheReadInputTokens > 9, made.Usage.OutputTokens > 9, told(err))
	params := message("mine", "Use the tide tool")
	params.Tools = []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: parameters["properties"], Required: []string{"at"}}, "look")}
	made, err = streamedMessage(params)
	results := []anthropic.ContentBlockParamUnion{}
	for _, block := range made.Content {
		if use, is := block.AsAny().(anthropic.ToolUseBlock); is {
			results = append(results, anthropic.NewToolResultBlock(use.ID, result(string(use.Input)), false))
		}
	}
	params.Messages = append(params.Messages, made.ToParam(), anthropic.NewUserMessage(results...))
	second, failed := claude.Messages.New(ctx, params)
	say("anthropic tools", blocks(second), blocks(&made), made.StopReason, told(err), told(failed))
	params = message("mine", "Say it as JSON")
	params.OutputConfig.Format = anthropic.JSONOutputFormatParam{Schema: schema}
	params.Thinking = anthropic.ThinkingConfigParamUnion{}
	whole, err = claude.Messages.New(ctx, params)
	say("anthropic form", blocks(whole), told(err))
	for what, one := range map[string][]string{"long": {"mine", long}, "unknown": {"unknown", "Hi"}, "gone": {"gone", "Hi"}} {
		_, err = claude.Messages.New(ctx, message(one[0], one[1]))
		var failed *anthropic.Error
		if errors.As(err, &failed) {
			var body struct {
				Error struct{ Type, Message string }
			}
			_ = json.Unmarshal([]byte(failed.RawJSON()), &body)
			say("anthropic "+what, failed.StatusCode, body.Error.Type, body.Error.Message, failed.RequestID != "")
		} else {
			say("anthropic "+what, told(err))
		}
	}
	for what, text := range map[string]string{"dies": "Die midway", "fails": "Fail midway"} {
		_, err = streamedMessage(message("mine", text))
		say("anthropic "+what, told(err))
	}
	models := []string{}
	page := claude.Models.ListAutoPaging(ctx, anthropic.ModelListParams{})
	for page.Next() {
		models = append(models, page.Current().ID)
	}
	one, second2 := claude.Models.Get(ctx, "mine", anthropic.ModelGetParams{})
	say("anthropic models", models, told(page.Err()), one.ID, one.DisplayName, one.CreatedAt.IsZero(), told(second2))
	counted, err := claude.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{Model: "mine", Messages: message("mine", "Hi there").Messages})
	say("anthropic count", counted.InputTokens > 9, told(err))
}
