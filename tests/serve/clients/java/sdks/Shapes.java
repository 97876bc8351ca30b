// What else the SDKs of OpenAI and Anthropic may ask for, each answer and event validated: `java -cp … Shapes URL`. Each step is a line of JSON.
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.models.messages.MessageCountTokensParams;
import com.anthropic.models.messages.MessageCreateParams;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.models.Reasoning;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.completions.CompletionCreateParams;
import com.openai.models.conversations.ConversationCreateParams;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseIncludable;
import java.util.Arrays;

class Shapes {
  interface Work { void run() throws Exception; }

  static void step(String name, Work work) {
    String said = "true";
    try {
      work.run();
    } catch (Throwable e) {
      String text = e.getClass().getSimpleName() + ": " + e.getMessage();
      said = "\"" + text.substring(0, Math.min(300, text.length())).replaceAll("[\"\\\\\n]", "'") + "\"";
    }
    System.out.println("[\"" + name + " shapes\", " + said + "]");
  }

  static ResponseCreateParams.Builder response(String text) {
    return ResponseCreateParams.builder().model("mine").input(text);
  }

  static void chats(OpenAIClient client) {
    var chat = ChatCompletionCreateParams.builder().model("mine").addUserMessage("Hi there").logprobs(true).topLogprobs(2).n(2);
    step("choices with logprobs", () -> client.chat().completions().create(chat.build()).validate());
    step("a reply that is cut off", () -> client.chat().completions().create(chat.maxCompletionTokens(5).build()).validate());
    step("streamed choices", () -> {
      try (var stream = client.chat().completions().createStreaming(chat.build())) {
        stream.stream().forEach(chunk -> chunk.validate());
      }
    });
    var plain = CompletionCreateParams.builder().model("mine").prompt("Hi there").logprobs(2).n(2).maxTokens(9);
    step("completions", () -> client.completions().create(plain.build()).validate());
    step("streamed completions", () -> {
      try (var stream = client.completions().createStreaming(plain.build())) {
        stream.stream().forEach(chunk -> chunk.choices()); // OpenAI's own have a finish reason that is null, which is not valid here
      }
    });
  }

  static void responses(OpenAIClient client) {
    var asked = response("Hi there").topLogprobs(2).include(Arrays.asList(ResponseIncludable.MESSAGE_OUTPUT_TEXT_LOGPROBS, ResponseIncludable.REASONING_ENCRYPTED_CONTENT))
        .reasoning(Reasoning.builder().summary(Reasoning.Summary.AUTO).build()).instructions("Be short.").temperature(0.5);
    Response made = client.responses().create(asked.build());
    step("a response", () -> made.validate());
    step("a streamed response", () -> {
      try (var stream = client.responses().createStreaming(asked.build())) {
        stream.stream().forEach(event -> event.validate());
      }
    });
    step("a response that is cut off", () -> client.responses().create(asked.maxOutputTokens(5).build()).validate());
    step("a streamed response that is cut off", () -> {
      try (var stream = client.responses().createStreaming(asked.build())) {
        stream.stream().forEach(event -> event.validate());
      }
    });
    step("a kept response", () -> client.responses().retrieve(made.id()).validate());
    step("its stream", () -> {
      try (var stream = client.responses().retrieveStreaming(made.id())) {
        stream.stream().forEach(event -> event.validate());
      }
    });
    step("its input", () -> client.responses().inputItems().list(made.id()).response().validate());
    step("its tokens", () -> client.responses().inputTokens().count(com.openai.models.responses.inputtokens.InputTokenCountParams.builder().model("mine").input("Hi there").build()).validate());
    step("its end", () -> client.responses().delete(made.id()));
    step("a conversation", () -> {
      var kept = client.conversations().create(ConversationCreateParams.builder().build()).validate();
      client.responses().create(response("Use the tide tool").conversation(kept.id()).build()).validate();
      client.conversations().items().list(kept.id()).response().validate();
      client.conversations().retrieve(kept.id()).validate();
      client.conversations().delete(kept.id()).validate();
    });
  }

  static void messages(String url) {
    var client = AnthropicOkHttpClient.builder().baseUrl(url).apiKey("none").maxRetries(0).build();
    var asked = MessageCreateParams.builder().model("mine").maxTokens(4000).addUserMessage("Hi there").addStopSequence("tide");
    step("a stop sequence", () -> client.messages().create(asked.build()).validate());
    step("a message that is cut off", () -> client.messages().create(asked.maxTokens(5).build()).validate());
    step("a streamed message that is cut off", () -> {
      try (var stream = client.messages().createStreaming(asked.build())) {
        stream.stream().forEach(event -> event.validate());
      }
    });
    step("counted tokens", () -> client.messages().countTokens(MessageCountTokensParams.builder().model("mine").addUserMessage("Hi there").build()).validate());
    var beta = com.anthropic.models.beta.messages.MessageCreateParams.builder().model("mine").maxTokens(4000).addUserMessage("Hi there").enabledThinking(1024);
    step("a beta message", () -> client.beta().messages().create(beta.build()).validate());
    step("a streamed beta message", () -> {
      try (var stream = client.beta().messages().createStreaming(beta.build())) {
        stream.stream().forEach(event -> event.validate());
      }
    });
    step("beta models", () -> client.beta().models().list().items().forEach(one -> one.validate()));
  }

  public static void main(String[] arguments) {
    OpenAIClient client = OpenAIOkHttpClient.builder().baseUrl(arguments[0] + "/v1").apiKey("none").maxRetries(0).build();
    chats(client);
    responses(client);
    messages(arguments[0]);
    System.exit(0);
  }
}
