// LangChain4j's clients of the three APIs: `java -cp … Langchains.java URL`. Each step is a line of JSON.
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.anthropic.*;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.*;
import dev.langchain4j.model.chat.request.json.*;
import dev.langchain4j.model.chat.response.*;
import dev.langchain4j.model.ollama.*;
import dev.langchain4j.model.openai.*;
import dev.langchain4j.service.AiServices;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

class Langchains {
  static final ObjectMapper JSON = new ObjectMapper();
  static final String LONG = "water ".repeat(6000);
  static String url;

  interface Work { Object run() throws Exception; }

  static void step(String name, Work work) throws Exception {
    Object said;
    try {
      said = work.run();
    } catch (Throwable e) {
      if (e instanceof java.util.concurrent.ExecutionException) e = e.getCause();
      String text = String.valueOf(e.getMessage());
      said = e.getClass().getSimpleName() + ": " + text.substring(0, Math.min(300, text.length()));
    }
    System.out.println(JSON.writeValueAsString(Arrays.asList(name, said)));
  }

  static class Looks {
    List<String> asked = Collections.synchronizedList(new ArrayList<>());

    @Tool("Looks at the water.")
    String look(@P("at") String at) {
      asked.add(at);
      return "The water of " + at + " stands at " + Map.of("Köln 🌊", "3.2 m").getOrDefault(at, "1.1 m");
    }
  }

  interface Assistant { String chat(String text); }

  interface StreamingAssistant { dev.langchain4j.service.TokenStream chat(String text); }

  static List<Object> shown(ChatResponse made) {
    return Arrays.asList(made.aiMessage().text(), made.aiMessage().thinking(), String.valueOf(made.finishReason()), made.tokenUsage() != null && made.tokenUsage().inputTokenCount() > 9 && made.tokenUsage().outputTokenCount() > 9);
  }

  static List<Object> streamed(StreamingChatModel model, String text) throws Exception {
    CompletableFuture<ChatResponse> done = new CompletableFuture<>();
    StringBuilder content = new StringBuilder(), thinking = new StringBuilder();
    model.chat(ChatRequest.builder().messages(UserMessage.from(text)).build(), new StreamingChatResponseHandler() {
      @Override public void onPartialResponse(String piece) { content.append(piece); }
      @Override public void onPartialThinking(PartialThinking piece) { thinking.append(piece.text()); }
      @Override public void onCompleteResponse(ChatResponse made) { done.complete(made); }
      @Override public void onError(Throwable error) { done.completeExceptionally(error); }
    });
    ChatResponse made = done.get(60, TimeUnit.SECONDS);
    List<Object> all = new ArrayList<>(List.of(content.toString(), thinking.toString()));
    all.addAll(shown(made));
    return all;
  }

  static void all(String name, ChatModel model, ChatModel unknown, ChatModel gone, StreamingChatModel streaming) throws Exception {
    step(name + " chat", () -> shown(model.chat(UserMessage.from("Hi there"))));
    step(name + " stream", () -> streamed(streaming, "Hi there"));
    step(name + " tools", () -> {
      Looks looks = new Looks();
      return List.of(AiServices.builder(Assistant.class).chatModel(model).tools(looks).build().chat("Use the tide tool"), looks.asked);
    });
    step(name + " streamed tools", () -> {
      Looks looks = new Looks();
      CompletableFuture<String> done = new CompletableFuture<>();
      AiServices.builder(StreamingAssistant.class).streamingChatModel(streaming).tools(looks).build().chat("Use the tide tool")
          .onPartialResponse(piece -> {}).onCompleteResponse(made -> done.complete(made.aiMessage().text())).onError(done::completeExceptionally).start();
      return List.of(done.get(60, TimeUnit.SECONDS), looks.asked);
    });
    step(name + " form", () -> {
      JsonSchemaElement tide = JsonObjectSchema.builder().addStringProperty("place").addIntegerProperty("metres").required("place", "metres").build();
      ResponseFormat format = ResponseFormat.builder().type(ResponseFormatType.JSON).jsonSchema(JsonSchema.builder().name("Tide").rootElement(tide).build()).build();
      ChatResponse made = model.chat(ChatRequest.builder().messages(UserMessage.from("Say it as JSON")).responseFormat(format).build());
      return JSON.readValue(made.aiMessage().text(), Map.class);
    });
    step(name + " long", () -> model.chat(LONG));
    step(name + " unknown", () -> unknown.chat("Hi"));
    step(name + " gone", () -> gone.chat("Hi"));
    step(name + " dies", () -> streamed(streaming, "Die midway"));
    step(name + " fails", () -> streamed(streaming, "Fail midway"));
  }

  static ChatModel openai(String model) {
    return OpenAiChatModel.builder().baseUrl(url + "/v1").apiKey("none").modelName(model).maxRetries(0).returnThinking(true).strictJsonSchema(true).build();
  }

  static ChatModel responses(String model) {
    return OpenAiResponsesChatModel.builder().baseUrl(url + "/v1").apiKey("none").modelName(model).reasoningSummary("auto").build();
  }

  static ChatModel anthropic(String model) {
    return AnthropicChatModel.builder().baseUrl(url + "/v1").apiKey("none").modelName(model).maxRetries(0).maxTokens(4000).thinkingType("enabled").thinkingBudgetTokens(1024).returnThinking(true).sendThinking(true).build();
  }

  static ChatModel ollama(String model) {
    return OllamaChatModel.builder().baseUrl(url).modelName(model).maxRetries(0).think(true).returnThinking(true).supportedCapabilities(dev.langchain4j.model.chat.Capability.RESPONSE_FORMAT_JSON_SCHEMA).build();
  }

  public static void main(String[] arguments) throws Exception {
    url = arguments[0];
    Duration limit = Duration.ofSeconds(60);
    all("openai", openai("mine"), openai("unknown"), openai("gone"), OpenAiStreamingChatModel.builder().baseUrl(url + "/v1").apiKey("none").modelName("mine").returnThinking(true).timeout(limit).build());
    all("responses", responses("mine"), responses("unknown"), responses("gone"), OpenAiResponsesStreamingChatModel.builder().baseUrl(url + "/v1").apiKey("none").modelName("mine").reasoningSummary("auto").build());
    all("anthropic", anthropic("mine"), anthropic("unknown"), anthropic("gone"), AnthropicStreamingChatModel.builder().baseUrl(url + "/v1").apiKey("none").modelName("mine").maxTokens(4000).thinkingType("enabled").thinkingBudgetTokens(1024).returnThinking(true).sendThinking(true).build());
    all("ollama", ollama("mine"), ollama("unknown"), ollama("gone"), OllamaStreamingChatModel.builder().baseUrl(url).modelName("mine").think(true).returnThinking(true).build());
    System.exit(0);
  }
}
