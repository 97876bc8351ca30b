// What the heap gives to renders and to compiled templates: a warm render allocates nothing, and a compiled template
// stays small.
//
//     heap_test FOLDER... [--list]
//
// Takes every *.jinja and *.gotmpl of the folders, and renders each with conversations as a server meets them: two
// messages, and thirty with ten tools. `--list` prints what every template keeps. Begin reading at main.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heap_counter.h"
#include "parlance/parlance.h"

namespace parlance::test {
namespace {

/// With its text a template should keep less.
constexpr std::size_t kSmall = std::size_t{20} << 10;
/// What it may keep besides its text: a fixed part, and so much for each byte of the text. A Go template keeps its
/// syntax tree, often twice (whole, and cut where the response begins).
constexpr std::size_t kKeptAnyway = std::size_t{12} << 10;
constexpr std::size_t kKeptPerByte = 2;
constexpr std::size_t kKeptPerByteOfGo = 8;

struct Results {
  std::size_t templates = 0;
  std::size_t small = 0;  ///< templates that keep less than kSmall
  std::size_t renders[2] = {};
  std::size_t failures = 0;
  bool list = false;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// ---- conversations

const char kShort[] = R"({"messages": [
{"role": "system", "content": "You look after a harbour and answer with care."},
{"role": "user", "content": "Which berth is free at noon, and how high is the tide? 第三号泊位今天下午空闲"}],
"add_generation_prompt": true, "bos_token": "<|bos|>", "eos_token": "<|eos|>"})";

std::string tool(int number) {
  const std::string n = std::to_string(number);
  return R"({"type": "function", "function": {"name": "find_berth_)" + n +
         R"(", "description": "Reports the water level, with \"quotes\" and <tags>.", "parameters": {"type": "object",
"properties": {"name": {"type": "string", "description": "Who asks."}, "depth": {"type": "number", "maximum": 60.75},
"order": {"type": "string", "enum": ["asc", "desc"]}, "tags": {"type": "array", "items": {"type": "string"}}},
"required": ["name", "depth"]}}})";
}

enum class Shape { full, no_reasoning, no_tools, in_turns };

/// An assistant's message, with a call and its result where there are tools.
std::string step(int number, Shape shape) {
  const std::string n = std::to_string(100000000 + number);  // some templates want nine characters
  if (shape == Shape::in_turns || shape == Shape::no_tools) {
    return R"({"role": "assistant", "content": "<think>\nThe gauge is late.\n</think>\n\nBerth )" + n + " is free.\"}";
  }
  const std::string reasoning =
      shape == Shape::full ? R"("reasoning_content": "The gauge disagrees with the tide table.", )" : "";
  return R"({"role": "assistant", "content": "", )" + reasoning + R"("tool_calls": [{"id": ")" + n +
         R"(", "type": "function", "function": {"name": "find_berth_1", "arguments": {"name": "MS \"Aurora\"",
"depth": 11.125, "order": "asc", "tags": ["夜班", "pier 4"]}}}]},
{"role": "tool", "tool_call_id": ")" +
         n + R"(", "name": "find_berth_1", "content": "gauge-7 level=3.5 m trend=rising\n[3/7] ok\n"},
{"role": "assistant", "content": "Berth )" +
         n + " is free, the tide is at 3.5 m.\"}";
}

/// An agent's conversation of thirty messages and ten tools, or less of it for templates that refuse some of that.
std::string long_one(Shape shape) {
  std::string text = R"({"messages": [)";
  if (shape != Shape::in_turns) {
    text += R"({"role": "system", "content": "You look after a harbour and answer with care."},)";
  }
  for (int i = 0; i < 7; ++i) {
    text += R"({"role": "user", "content": "Is berth )" + std::to_string(i) + R"( free? 请核对船舶名单并标出重复项"},)";
    text += step(i, shape) + ",\n";
  }
  text += R"({"role": "user", "content": "Thank you. And tomorrow?"}])";
  if (shape == Shape::full || shape == Shape::no_reasoning) {
    text += R"(, "tools": [)" + tool(0);
    for (int i = 1; i < 10; ++i) text += "," + tool(i);
    text += "]";
  }
  return text + R"(, "add_generation_prompt": true, "bos_token": "<|bos|>", "eos_token": "<|eos|>"})";
}

// ---- renders

/// What one thread of a server keeps.
struct Server {
  Conversation conversation;
  Workspace workspace;
  Rendering rendering;

  bool answer(const Template& chat, const std::string& request, const ReadOptions& reading,
              const RenderOptions& options) {
    return conversation.read(request, reading).has_value() &&
           chat.render(conversation, options, workspace, rendering).has_value();
  }
};

/// False where the template refuses the conversation.
bool count_one(const std::string& name, const Template& chat, const std::string& request, const RenderOptions& options,
               const ReadOptions& reading, Results& results) {
  Server server;
  for (int warming = 0; warming < 3; ++warming) {
    if (!server.answer(chat, request, reading, options)) return false;
  }
  const std::string prompt(server.rendering.text());
  std::uint64_t count = 0;
  {
    const NoAllocations none;
    if (!chat.render(server.conversation, options, server.workspace, server.rendering)) return false;
    count = none.count();
    if (!server.answer(chat, request, reading, options)) return false;
    if (none.count() != 0) {
      std::printf(
          "%s: %llu allocations in a warm render, %llu in one with reading (spans %d, assistant %d, as is %d)\n",
          name.c_str(), static_cast<unsigned long long>(count), static_cast<unsigned long long>(none.count() - count),
          options.want_spans, options.want_assistant, options.as_is);
      ++results.failures;
    }
  }
  if (prompt != server.rendering.text()) {
    std::printf("%s: the warm prompt differs from the first\n", name.c_str());
    ++results.failures;
  }
  return true;
}

/// The prompt alone, with spans, and with the assistant's ranges where tags say those; adapted and as it is.
bool count_renders(const std::string& name, const Template& chat, const std::string& request, Results& results) {
  bool renders = true;
  for (int asked = 0; asked < 3 && renders; ++asked) {
    for (const bool as_is : {true, false}) {
      RenderOptions options;
      options.want_spans = asked != 0;
      options.want_assistant = asked == 2 && chat.has_generation_tag();
      options.as_is = as_is;
      options.now = {2026, 3, 14, 15, 9, 26, 0};
      ReadOptions reading;
      reading.normalise = !as_is;
      renders = count_one(name, chat, request, options, reading, results) && renders;
    }
  }
  return renders;
}

/// The first of the shapes that the template takes.
bool count_long(const std::string& name, const Template& chat, Results& results) {
  for (const Shape shape : {Shape::full, Shape::no_reasoning, Shape::no_tools, Shape::in_turns}) {
    if (count_renders(name, chat, long_one(shape), results)) return true;
  }
  return false;
}

// ---- templates

std::optional<Template> compile_and_weigh(const std::string& name, const std::filesystem::path& path,
                                          Results& results) {
  const std::string text = read_file(path);
  CompileOptions options;
  options.syntax = syntax_of_file(path.string());
  (void)Template::compile(text, options);  // tables that are made once for all templates
  const std::uint64_t before = heap_count().live_bytes;
  auto compiled = Template::compile(text, options);
  if (!compiled) return std::nullopt;
  const std::uint64_t kept = heap_count().live_bytes - before - text.size();
  ++results.templates;
  if (kept + text.size() < kSmall) ++results.small;
  if (results.list) {
    std::printf("%8zu %8llu  %s\n", text.size(), static_cast<unsigned long long>(kept), name.c_str());
  }
  const std::size_t per_byte = options.syntax == Syntax::go ? kKeptPerByteOfGo : kKeptPerByte;
  const std::size_t most = kKeptAnyway + per_byte * text.size();
  if (kept > most) {
    std::printf("%s: %zu bytes compile to %llu bytes more\n", name.c_str(), text.size(),
                static_cast<unsigned long long>(kept));
    ++results.failures;
  }
  return std::move(*compiled);
}

void test_template(const std::filesystem::path& path, Results& results) {
  const std::string name = path.filename().string();
  const std::optional<Template> chat = compile_and_weigh(name, path, results);
  if (!chat) return;
  if (count_renders(name, *chat, kShort, results)) ++results.renders[0];
  if (count_long(name, *chat, results)) ++results.renders[1];
}

std::vector<std::filesystem::path> templates_in(const char* folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".jinja") || name.ends_with(".gotmpl")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace
}  // namespace parlance::test

int main(int argc, char** argv) {
  using namespace parlance::test;
  const std::uint64_t before = heap_count().allocations;
  const auto counts = std::make_unique<Results>();  // which a tool such as valgrind may prevent
  if (heap_count().allocations == before) return std::puts("allocations cannot be counted here"), 77;
  Results& results = *counts;
  std::vector<const char*> folders;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--list") {
      results.list = true;
    } else {
      folders.push_back(argv[i]);
    }
  }
  for (const char* folder : folders) {
    for (const std::filesystem::path& path : templates_in(folder)) test_template(path, results);
  }
  std::printf(
      "%zu templates, %zu of them under %zu bytes with their text; %zu render the short conversation, %zu the "
      "long one; %zu failures\n",
      results.templates, results.small, kSmall, results.renders[0], results.renders[1], results.failures);
  // Templates that refuse everything would test nothing.
  const bool all_small = results.small * 5 >= results.templates * 4;
  if (!all_small) std::printf("too few templates are small\n");
  const bool enough = results.templates != 0 && results.renders[0] * 4 >= results.templates * 3 &&
                      results.renders[1] * 4 >= results.templates * 3;
  if (!enough) std::printf("too few templates render\n");
  return results.failures == 0 && enough && all_small ? 0 : 1;
}
