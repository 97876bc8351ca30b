// Java's SDKs of OpenAI and Anthropic: `java -cp … Sdks.java URL`. Each step is a line of JSON. Answers and events are validated too.
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.core.JsonValue;
import com.anthropic.errors.AnthropicServiceException;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.errors.OpenAIServiceException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.Reasoning;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.StructuredResponseCreateParams;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

class Sdks {
  static final ObjectMapper JSON = new ObjectMapper();
  static final String LONG = "water ".repeat(6000);

  interface Work { Object run() throws Exception; }

  static void step(String name, Work work) throws Exception {
    Object said;
    try {
      said = work.run();
    } catch (OpenAIServiceException e) {
      said = List.of(e.statusCode(), e.code().orElse(""), e.type().orElse(""), cut(e.getMessage()));
    } catch (AnthropicServiceException e) {
      said = List.of(e.statusCode(), cut(e.getMessage()));
    } catch (Throwable e) {
      said = e.getClass().getSimpleName() + ": " + cut(String.valueOf(e.getMessage()));
    }
    System.out.println(JSON.writeValueAsString(java.util.Arrays.asList(name, said)));
  }

  static String cut(String text) { return text.substring(0, Math.min(300, text.length())); }

  static class Tide { public String place; public int metres; }

  @com.fasterxml.jackson.annotation.JsonTypeName("look")
  @com.fasterxml.jackson.annotation.JsonClassDescription("Looks at the water.")
  static class Look {
    @JsonProperty(required = true) public String at;
    String result() { return "The water of " + at + " stands at " + Map.of("Köln 🌊", "3.2 m").getOrDefault(at, "1.1 m"); }
  }

  static ChatCompletionCreateParams.Builder chat(String model, String text) {
    return ChatCompletionCreateParams.builder().model(model).addUserMessage(text);
  }

  static ChatCompletion streamed(com.openai.client.OpenAIClient client, ChatCompletionCreateParams.Builder asked) {
    asked.streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build());
    ChatCompletionAccumulator made = ChatCompletionAccumulator.create();
    try (var stream = client.chat().completions().createStreaming(asked.build())) {
      stream.stream().forEach(chunk -> made.accumulate(chunk.validate()));
    }
    return made.chatCompletion().validate();
  }

  static void openai(String url) throws Exception {
    var client = OpenAIOkHttpClient.builder().baseUrl(url + "/v1").apiKey("none").maxRetries(0).build();
    step("openai chat", () -> {
      ChatCompletion made = client.chat().completions().create(chat("mine", "Hi there").build()).validate();
      return List.of(made.choices().get(0).message().content().get(), made.choices().get(0).finishReason().asString(), made.usage().get().promptTokens() > 9);
    });
    step("openai stream", () -> {
      ChatCompletion made = streamed(client, chat("mine", "Hi there"));
      return List.of(made.choices().get(0).message().content().get(), made.choices().get(0).finishReason().asString(), made.usage().get().promptTokens() > 9);
    });
    step("openai tools", () -> {
      var asked = chat("mine", "Use the tide tool").addTool(Look.class);
      var first = streamed(client, asked).choices().get(0).message();
      asked.addMessage(first);
      List<Object> calls = new ArrayList<>();
      for (var call : first.toolCalls().get()) {
        Look look = call.asFunction().function().arguments(Look.class);
        calls.add(List.of(call.asFunction().function().name(), Map.of("at", look.at)));
        asked.addMessage(ChatCompletionToolMessageParam.builder().toolCallId(call.asFunction().id()).content(look.result()).build());
      }
      return List.of(client.chat().completions().create(chat("mine", "x").messages(asked.build().messages()).addTool(Look.class).build()).choices().get(0).message().content().get(), calls);
    });
    step("openai form", () -> {
      Tide tide = client.chat().completions().create(chat("mine", "Say it as JSON").responseFormat(Tide.class).build()).choices().get(0).message().content().get();
      return Map.of("place", tide.place, "metres", tide.metres);
    });
    for (var one : List.of(List.of("long", "mine", LONG), List.of("unknown", "unknown", "Hi"), List.of("gone", "gone", "Hi")))
      step("openai " + one.get(0), () -> client.chat().completions().create(chat(one.get(1), one.get(2)).build()).id());
    for (var one : Map.of("dies", "Die midway", "fails", "Fail midway").entrySet()) step("openai " + one.getKey(), () -> streamed(client, chat("mine", one.getValue())).id());
    step("openai models", () -> List.of(client.models().list().response().validate().data().stream().map(m -> m.id()).toList(), client.models().retrieve("mine").validate().id()));
    step("responses chat", () -> {
      var made = client.responses().create(ResponseCreateParams.builder().model("mine").input("Hi there").build()).validate();
      return List.of(made.status().get().asString(), made.usage().get().inputTokens() > 9, made.output().stream().map(item -> item.isReasoning() ? item.asReasoning().content().get().get(0).text() : item.message().get().content().get(0).asOutputText().text()).toList());
    });
    for (var one : Map.of("stream", "Hi there", "dies", "Die midway", "fails", "Fail midway").entrySet())
      step("responses " + one.getKey(), () -> {
        List<String> kinds = new ArrayList<>();
        ResponseAccumulator made = ResponseAccumulator.create();
        var asked = ResponseCreateParams.builder().model("mine").input(one.getValue()).reasoning(Reasoning.builder().summary(Reasoning.Summary.AUTO).build()).build();
        try (var stream = client.responses().createStreaming(asked)) {
          stream.stream().forEach(event -> made.accumulate(event.validate()));
        }
        var whole = made.response().validate();
        return List.of(whole.status().get().asString(), whole.error().map(e -> e.code().asString() + ": " + e.message()).orElse(""),
            whole.output().stream().map(item -> item.isReasoning() ? item.asReasoning().summary().get(0).text() : item.message().get().content().get(0).asOutputText().text()).toList());
      });
    step("responses tools", () -> {
      var asked = ResponseCreateParams.builder().model("mine").addTool(Look.class);
      var first = client.responses().create(asked.input("Use the tide tool").build()).validate();
      List<ResponseInputItem> results = new ArrayList<>();
      List<Object> calls = new ArrayList<>();
      for (var item : first.output())
        if (item.isFunctionCall()) {
          Look look = item.asFunctionCall().arguments(Look.class);
          calls.add(List.of(item.asFunctionCall().name(), Map.of("at", look.at)));
          results.add(ResponseInputItem.ofFunctionCallOutput(ResponseInputItem.FunctionCallOutput.builder().callId(item.asFunctionCall().callId()).output(look.result()).build()));
        }
      var second = client.responses().create(asked.inputOfResponse(results).previousResponseId(first.id()).build()).validate();
      return List.of(second.output().stream().filter(item -> item.isMessage()).findFirst().get().asMessage().content().get(0).asOutputText().text(), calls);
    });
    step("responses form", () -> {
      StructuredResponseCreateParams<Tide> asked = ResponseCreateParams.builder().model("mine").input("Say it as JSON").text(Tide.class).build();
      Tide tide = client.responses().create(asked).output().stream().flatMap(i -> i.message().stream()).flatMap(m -> m.content().stream()).findFirst().get().asOutputText();
      return Map.of("place", tide.place, "metres", tide.metres);
    });
  }

  static MessageCreateParams.Builder message(String model, String text) {
    return MessageCreateParams.builder().model(model).maxTokens(4000).enabledThinking(1024).addUserMessage(text);
  }

  static Message streamedMessage(com.anthropic.client.AnthropicClient client, MessageCreateParams asked) {
    MessageAccumulator made = MessageAccumulator.create();
    try (var stream = client.messages().createStreaming(asked)) {
      stream.stream().forEach(event -> made.accumulate(event.validate()));
    }
    return made.message().validate();
  }

  static final Tool look = Tool.builder().name("look").description("Looks at the water.").inputSchema(Tool.InputSchema.builder().addRequired("at")
      .properties(Tool.InputSchema.Properties.builder().putAdditionalProperty("at", JsonValue.from(Map.of("type", "string"))).build()).build()).build();

  static List<Object> blocks(Message made) {
    return made.content().stream().<Object>map(block -> block.isText() ? block.asText().text() : block.isThinking() ? List.of("thinking", block.asThinking().thinking()) : List.of(block.asToolUse().name(), block.asToolUse()._input().toString())).toList();
  }

  static void anthropic(String url) throws Exception {
    var client = AnthropicOkHttpClient.builder().baseUrl(url).apiKey("none").maxRetries(0).build();
    step("anthropic chat", () -> {
      Message made = client.messages().create(message("mine", "Hi there").build()).validate();
      return List.of(blocks(made), made.stopReason().get().asString(), made.usage().outputTokens() > 9);
    });
    step("anthropic stream", () -> {
      Message made = streamedMessage(client, message("mine", "Hi there").build());
      return List.of(blocks(made), made.stopReason().get().asString(), made.usage().outputTokens() > 9);
    });
    step("anthropic tools", () -> {
      var asked = message("mine", "Use the tide tool").addTool(look);
      Message first = streamedMessage(client, asked.build());
      asked.addMessage(first);
      List<ContentBlockParam> results = new ArrayList<>();
      for (var block : first.content())
        if (block.isToolUse())
          results.add(ContentBlockParam.ofToolResult(ToolResultBlockParam.builder().toolUseId(block.asToolUse().id()).content(block.asToolUse()._input().convert(Look.class).result()).build()));
      Message second = client.messages().create(asked.addUserMessageOfContentBlockParams(results).build()).validate();
      return List.of(blocks(second), blocks(first), first.stopReason().get().asString());
    });
    step("anthropic form", () -> {
      var asked = MessageCreateParams.builder().model("mine").maxTokens(4000).addUserMessage("Say it as JSON").outputConfig(Tide.class).build();
      Tide tide = client.messages().create(asked).content().get(0).asText().text();
      return Map.of("place", tide.place, "metres", tide.metres);
    });
    for (var one : List.of(List.of("long", "mine", LONG), List.of("unknown", "unknown", "Hi"), List.of("gone", "gone", "Hi")))
      step("anthropic " + one.get(0), () -> client.messages().create(message(one.get(1), one.get(2)).build()).id());
    for (var one : Map.of("dies", "Die midway", "fails", "Fail midway").entrySet()) step("anthropic " + one.getKey(), () -> streamedMessage(client, message("mine", one.getValue()).build()).id());
    step("anthropic models", () -> List.of(client.models().list().items().stream().map(m -> m.validate().id()).toList(), client.models().retrieve("mine").validate().displayName()));
  }

  public static void main(String[] arguments) throws Exception {
    openai(arguments[0]);
    anthropic(arguments[0]);
    System.exit(0);
  }
}
