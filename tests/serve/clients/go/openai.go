// openai-go and sashabaranov's go-openai.
package main

import (
	"context"
	"errors"
	"io"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	other "github.com/sashabaranov/go-openai"
	"github.com/sashabaranov/go-openai/jsonschema"
)

var (
	ctx    = context.Background()
	client = openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
)

func openaiError(err error) []any {
	var failed *openai.Error
	if errors.As(err, &failed) {
		return []any{failed.StatusCode, failed.Code, failed.Type, failed.Message}
	}
	return []any{told(err)}
}

func asked(model, text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)}}
}

func accumulated(params openai.ChatCompletionNewParams) (openai.ChatCompletionAccumulator, string, error) {
	params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := client.Chat.Completions.NewStreaming(ctx, params)
	made := openai.ChatCompletionAccumulator{}
	reasoning := ""
	for stream.Next() {
		chunk := stream.Current()
		if !made.AddChunk(chunk) {
			return made, reasoning, errors.New("a chunk that cannot be accumulated: " + chunk.RawJSON())
		}
		for _, choice := range chunk.Choices {
			if value, ok := choice.Delta.JSON.ExtraFields["reasoning_content"]; ok {
				if text, is := parsed(value.Raw()).(string); is {
					reasoning += text
				}
			}
		}
	}
	return made, reasoning, stream.Err()
}

func openaiChat() {
	whole, err := client.Chat.Completions.New(ctx, asked("mine", "Hi there"))
	if err != nil {
		say("openai chat", told(err))
	} else {
		say("openai chat", whole.Choices[0].Message.Content, whole.Choices[0].FinishReason, whole.Usage.PromptTokens > 9)
	}
	made, reasoning, err := accumulated(asked("mine", "Hi there"))
	say("openai stream", made.Choices[0].Message.Content, reasoning, made.Choices[0].FinishReason, made.Usage.PromptTokens > 9, told(err))

	params := asked("mine", "Use the tide tool")
	params.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "look", Parameters: parameters, Strict: openai.Bool(true)})}
	made, _, err = accumulated(params)
	calls := []any{}
	params.Messages = append(params.Messages, made.Choices[0].Message.ToParam())
	for _, call := range made.Choices[0].Message.ToolCalls {
		calls = append(calls, []any{call.Function.Name, parsed(call.Function.Arguments)})
		params.Messages = append(params.Messages, openai.ToolMessage(result(call.Function.Arguments), call.ID))
	}
	whole, second := client.Chat.Completions.New(ctx, params)
	say("openai tools", whole.Choices[0].Message.Content, calls, made.Choices[0].FinishReason, told(err), told(second))

	params = asked("mine", "Say it as JSON")
	params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "tide", Schema: schema, Strict: openai.Bool(true)},
	}
	whole, err = client.Chat.Completions.New(ctx, params)
	say("openai form", parsed(whole.Choices[0].Message.Content), told(err))

	for what, one := range map[string][]string{"long": {"mine", long}, "unknown": {"unknown", "Hi"}, "gone": {"gone", "Hi"}} {
		_, err = client.Chat.Completions.New(ctx, asked(one[0], one[1]))
		say("openai "+what, openaiError(err)...)
	}
	for what, text := range map[string]string{"dies": "Die midway", "fails": "Fail midway"} {
		_, _, err = accumulated(asked("mine", text))
		say("openai "+what, told(err))
	}
	models := []string{}
	page := client.Models.ListAutoPaging(ctx)
	for page.Next() {
		models = append(models, page.Current().ID)
	}
	one, second := client.Models.Get(ctx, "mine")
	say("openai models", models, told(page.Err()), one.ID, one.Created > 0, told(second))
}

func openaiResponses() {
	params := responses.ResponseNewParams{Model: "mine", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Hi there")}}
	whole, err := client.Responses.New(ctx, params)
	say("responses chat", whole.OutputText(), whole.Status, whole.Usage.InputTokens > 9, told(err))
	params.Reasoning = shared.ReasoningParam{Summary: shared.ReasoningSummaryAuto}
	stream := client.Responses.NewStreaming(ctx, params)
	text, reasoning, last := "", "", ""
	for stream.Next() {
		event := stream.Current()
		last = event.Type
		switch is := event.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += is.Delta
		case responses.ResponseReasoningSummaryTextDeltaEvent:
			reasoning += is.Delta
		case nil:
			say("responses unknown event", event.Type)
		}
	}
	say("responses stream", text, reasoning, last, told(stream.Err()))

	params = responses.ResponseNewParams{Model: "mine", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Use the tide tool")}}
	params.Tools = []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: "look", Parameters: parameters, Strict: openai.Bool(true)}}}
	first, err := client.Responses.New(ctx, params)
	calls, results := []any{}, responses.ResponseInputParam{}
	for _, item := range first.Output {
		if call, is := item.AsAny().(responses.ResponseFunctionToolCall); is {
			calls = append(calls, []any{call.Name, parsed(call.Arguments)})
			output := responses.ResponseInputItemParamOfFunctionCallOutput(result(call.Arguments))
			output.OfFunctionCallOutput.CallID = param.NewOpt(call.CallID)
			results = append(results, output)
		}
	}
	params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: results}
	params.PreviousResponseID = param.NewOpt(first.ID)
	second, failed := client.Responses.New(ctx, params)
	say("responses tools", second.OutputText(), calls, told(err), told(failed))

	params = responses.ResponseNewParams{Model: "mine", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Say it as JSON")}}
	params.Text.Format.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "tide", Schema: schema, Strict: openai.Bool(true)}
	whole, err = client.Responses.New(ctx, params)
	say("responses form", parsed(whole.OutputText()), told(err))
	for what, text := range map[string]string{"dies": "Die midway", "fails": "Fail midway"} {
		stream := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{Model: "mine", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(text)}})
		kinds := map[string]string{}
		for stream.Next() {
			if event := stream.Current(); event.Type == "error" || event.Type == "response.failed" {
				kinds[event.Type] = event.Code + event.Message + string(event.Response.Error.Code) + ": " + event.Response.Error.Message
			}
		}
		say("responses "+what, kinds, told(stream.Err()))
	}
}

func otherStream(client *other.Client, request other.ChatCompletionRequest) (message other.ChatCompletionMessage, usage bool, err error) {
	request.StreamOptions = &other.StreamOptions{IncludeUsage: true}
	stream, err := client.CreateChatCompletionStream(ctx, request)
	if err != nil {
		return message, false, err
	}
	defer stream.Close()
	message.Role = "assistant"
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return message, usage, nil
		}
		if err != nil {
			return message, usage, err
		}
		usage = usage || chunk.Usage != nil && chunk.Usage.PromptTokens > 9
		for _, choice := range chunk.Choices {
			message.Content += choice.Delta.Content
			message.ReasoningContent += choice.Delta.ReasoningContent
			for _, call := range choice.Delta.ToolCalls {
				if *call.Index == len(message.ToolCalls) {
					message.ToolCalls = append(message.ToolCalls, call)
				} else {
					message.ToolCalls[*call.Index].Function.Arguments += call.Function.Arguments
				}
			}
		}
	}
}

func sashabaranov() {
	config := other.DefaultConfig("none")
	config.BaseURL = url + "/v1"
	client := other.NewClientWithConfig(config)
	user := func(model, text string) other.ChatCompletionRequest {
		return other.ChatCompletionRequest{Model: model, Messages: []other.ChatCompletionMessage{{Role: "user", Content: text}}}
	}
	whole, err := client.CreateChatCompletion(ctx, user("mine", "Hi there"))
	say("go-openai chat", whole.Choices[0].Message.Content, whole.Choices[0].Message.ReasoningContent, whole.Usage.PromptTokens > 9, told(err))
	made, usage, err := otherStream(client, user("mine", "Hi there"))
	say("go-openai stream", made.Content, made.ReasoningContent, usage, told(err))
	request := user("mine", "Use the tide tool")
	request.Tools = []other.Tool{{Type: "function", Function: &other.FunctionDefinition{Name: "look", Parameters: parameters}}}
	made, _, err = otherStream(client, request)
	calls := []any{}
	request.Messages = append(request.Messages, made)
	for _, call := range made.ToolCalls {
		calls = append(calls, []any{call.Function.Name, parsed(call.Function.Arguments)})
		request.Messages = append(request.Messages, other.ChatCompletionMessage{Role: "tool", ToolCallID: call.ID, Content: result(call.Function.Arguments)})
	}
	whole, second := client.CreateChatCompletion(ctx, request)
	say("go-openai tools", whole.Choices[0].Message.Content, calls, told(err), told(second))
	request = user("mine", "Say it as JSON")
	var form struct {
		Place  string `json:"place"`
		Metres int    `json:"metres"`
	}
	asked, _ := jsonschema.GenerateSchemaForType(form)
	request.ResponseFormat = &other.ChatCompletionResponseFormat{Type: "json_schema", JSONSchema: &other.ChatCompletionResponseFormatJSONSchema{Name: "tide", Schema: asked, Strict: true}}
	whole, err = client.CreateChatCompletion(ctx, request)
	say("go-openai form", parsed(whole.Choices[0].Message.Content), told(err))
	for what, one := range map[string][]string{"long": {"mine", long}, "unknown": {"unknown", "Hi"}, "gone": {"gone", "Hi"}} {
		_, err = client.CreateChatCompletion(ctx, user(one[0], one[1]))
		var failed *other.APIError
		if errors.As(err, &failed) {
			say("go-openai "+what, failed.HTTPStatusCode, failed.Code, failed.Type, failed.Message)
		} else {
			say("go-openai "+what, told(err))
		}
	}
	for what, text := range map[string]string{"dies": "Die midway", "fails": "Fail midway"} {
		_, _, err = otherStream(client, user("mine", text))
		say("go-openai "+what, told(err))
	}
	list, err := client.ListModels(ctx)
	one, second := client.GetModel(ctx, "mine")
	say("go-openai models", len(list.Models), told(err), one.ID, told(second))
}
