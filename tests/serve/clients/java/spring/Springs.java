// Spring AI's chat clients of the three APIs: `java -cp … Springs.java URL`. Each step is a line of JSON.
import java.util.*;
import org.springframework.ai.anthropic.AnthropicChatModel;
import org.springframework.ai.anthropic.AnthropicChatOptions;
import org.springframework.ai.chat.client.ChatClient;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.ollama.OllamaChatModel;
import org.springframework.ai.ollama.api.OllamaApi;
import org.springframework.ai.ollama.api.OllamaChatOptions;
import org.springframework.ai.openai.OpenAiChatModel;
import org.springframework.ai.openai.OpenAiChatOptions;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;

class Springs {
  static final com.fasterxml.jackson.databind.ObjectMapper JSON = new com.fasterxml.jackson.databind.ObjectMapper();
  static final String LONG = "water ".repeat(6000);

  interface Work { Object run() throws Exception; }

  interface Models { ChatModel named(String model); }

  record Tide(String place, int metres) {}

  static class Looks {
    List<String> asked = Collections.synchronizedList(new ArrayList<>());

    @Tool(description = "Looks at the water.")
    String look(String at) {
      asked.add(at);
      return "The water of " + at + " stands at " + Map.of("Köln 🌊", "3.2 m").getOrDefault(at, "1.1 m");
    }
  }

  static void step(String name, Work work) throws Exception {
    Object said;
    try {
      said = work.run();
    } catch (Throwable e) {
      while (e.getCause() != null && e.getCause() != e) e = e.getCause();
      String text = String.valueOf(e.getMessage());
      said = e.getClass().getSimpleName() + ": " + text.substring(0, Math.min(300, text.length()));
    }
    System.out.println(JSON.writeValueAsString(Arrays.asList(name, said)));
  }

  static boolean used(ChatResponse made) {
    var usage = made.getMetadata().getUsage();
    return usage.getPromptTokens() > 9 && usage.getCompletionTokens() > 9;
  }

  static Object streamed(ChatModel model, String text) {
    StringBuilder shown = new StringBuilder();
    boolean usage = false;
    for (ChatResponse part : model.stream(new Prompt(text)).collectList().block(java.time.Duration.ofSeconds(60))) {
      if (part.getResult() != null && part.getResult().getOutput().getText() != null) shown.append(part.getResult().getOutput().getText());
      usage = usage || used(part);
    }
    return Arrays.asList(shown.toString(), usage);
  }

  static void all(String name, Models models) throws Exception {
    ChatModel model = models.named("mine");
    step(name + " chat", () -> {
      ChatResponse made = model.call(new Prompt("Hi there"));
      return Arrays.asList(made.getResult().getOutput().getText(), made.getResult().getMetadata().getFinishReason(), used(made), made.getResults().size());
    });
    step(name + " stream", () -> streamed(model, "Hi there"));
    step(name + " tools", () -> {
      Looks looks = new Looks();
      return Arrays.asList(ChatClient.create(model).prompt("Use the tide tool").tools(looks).call().content(), looks.asked);
    });
    step(name + " streamed tools", () -> {
      Looks looks = new Looks();
      return Arrays.asList(String.join("", ChatClient.create(model).prompt("Use the tide tool").tools(looks).stream().content().collectList().block()), looks.asked);
    });
    step(name + " form", () -> {
      Tide tide = ChatClient.create(model).prompt("Say it as JSON").call().entity(Tide.class);
      return Map.of("place", tide.place(), "metres", tide.metres());
    });
    step(name + " long", () -> model.call(LONG));
    step(name + " unknown", () -> models.named("unknown").call("Hi"));
    step(name + " gone", () -> models.named("gone").call("Hi"));
    step(name + " dies", () -> streamed(model, "Die midway"));
    step(name + " fails", () -> streamed(model, "Fail midway"));
  }

  public static void main(String[] arguments) throws Exception {
    String url = arguments[0];
    all("openai", model -> OpenAiChatModel.builder().options(OpenAiChatOptions.builder().baseUrl(url + "/v1").apiKey("none").model(model).maxRetries(0).streamUsage(true).build()).build());
    all("anthropic", model -> AnthropicChatModel.builder().options(AnthropicChatOptions.builder().baseUrl(url).apiKey("none").model(model).maxRetries(0).maxTokens(4000).build()).build());
    all("ollama", model -> OllamaChatModel.builder().retryTemplate(new RetryTemplate(RetryPolicy.withMaxRetries(0))).ollamaApi(OllamaApi.builder().baseUrl(url).build()).options(OllamaChatOptions.builder().model(model).enableThinking().build()).build());
    System.exit(0);
  }
}
