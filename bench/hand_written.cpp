// The terminal-agent format written by hand: the limit that a template engine is judged against.
//
// No template is interpreted. A pass over simdjson's tape collects the messages (Transcript), a
// second writes the prompt into one buffer that is large enough beforehand (Prompt, Writer). Parser
// and buffers are kept between calls, so a call allocates nothing. The output equals Jinja2's for
// every conversation it accepts; what it does not accept it refuses: contents and calls of other
// types, integers over 64 bits, lone surrogates. The second engine, `limit`, only parses and copies
// the reference's output. Start with render_prompt().
#include <simdjson.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "engine_process.h"
#include "tape.h"

namespace parlance::bench {
namespace {

using std::string_view;

constexpr string_view kDefaultSystemMessage =
    "You are an expert-level, stateful systems administrator AI. Your sole purpose is to "
    "accomplish "
    "complex, multi-step tasks by executing bash commands via the provided `terminal` tool.\n\nYou "
    "will be given a high-level objective. You must see this objective through to its **full "
    "completion**.\n\nYour workflow is a strict \"Plan-Execute-Observe-Adapt\" loop:\n\n1. "
    "**PLAN:** "
    "Before you act, use your <think> tag to break down the objective into a logical, step-by-step "
    "plan.\n2. **EXECUTE:** Execute *one* command at a time.\n3. **OBSERVE:** Scrutinize the "
    "`stdout` and `stderr` from the previous command. This output is your *only* view of the "
    "system's state.\n4. **ADAPT:** Based on the observation, update your plan.\n * **On "
    "Success:** "
    "Proceed to the next logical step.\n * **On Failure:** Do not stop. Diagnose the error (e.g., "
    "`permission denied`, `command not found`, `file not found`) and formulate a command to fix it "
    "(e.g., `sudo`, `apt-get install`, `mkdir`, `find`).\n * **Chain Commands:** Use the output "
    "from "
    "one command (e.g., a file path, a git branch) as the input for the next.\n5. **VERIFY:** "
    "Before "
    "you report completion, you *must* run a final verification command (e.g., `ls -l`, `cat "
    "file`, "
    "`git status`) to prove the objective has been met.\n\nDo not give up. Do not ask for "
    "clarification. Persist through errors and chain commands until the user's high-level goal is "
    "demonstrably and verifiably complete.";

constexpr string_view kToolsBegin =
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are "
    "provided "
    "with function signatures within <tools></tools> XML tags:\n<tools>";

constexpr string_view kToolsEnd =
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments "
    "within <tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, "
    "\"arguments\": <args-json-object>}\n</tool_call><|im_end|>\n";

constexpr string_view kThinkBegin = "<think>";
constexpr string_view kThinkEnd = "</think>";

// The prompt's size is at most this many times the JSON text's: a control character takes six bytes
// in both, a double such as 1e15 four bytes there and eighteen here, the frame of the shortest tool
// message or call about four times its JSON. Fixed texts are in kOutputSlack.
constexpr size_t kOutputPerInput = 8;
constexpr size_t kOutputSlack = 8192;

/// Appends to memory that is known to be large enough.
class Writer {
 public:
  explicit Writer(char* begin) : end_(begin) {}

  char* end() const { return end_; }

  template <size_t N>
  void literal(const char (&text)[N]) {
    std::memcpy(end_, text, N - 1);
    end_ += N - 1;
  }

  /// A string of the tape: short ones are copied as two whole blocks, without a call.
  void text(string_view s) {
    if (s.size() <= kBlock) {
      std::memcpy(end_, s.data(), kBlock);
    } else {
      std::memcpy(end_, s.data(), s.size());
    }
    end_ += s.size();
  }

  void constant(string_view s) {
    std::memcpy(end_, s.data(), s.size());
    end_ += s.size();
  }

  void character(char c) { *end_++ = c; }

  void json(const Tape& tape, size_t at) { end_ = write_json(tape, at, end_).out; }

 private:
  static constexpr size_t kBlock = simdjson::SIMDJSON_PADDING;

  char* end_;
};

/// An empty text that may be read beyond its end, as every string of the tape may.
constexpr char kZeros[simdjson::SIMDJSON_PADDING] = {};
constexpr string_view kNoText(kZeros, 0);

enum class Role : uint8_t { kOther, kSystem, kUser, kAssistant, kTool };

struct Message {
  Role role = Role::kOther;
  bool has_content = false;  // is a string; so for reasoning
  bool has_reasoning = false;
  string_view content = kNoText;
  string_view reasoning = kNoText;
  size_t tool_calls = 0;
};

/// What the format looks at, as places on the tape.
struct Transcript {
  std::vector<Message> messages;
  size_t tools = 0;
  size_t add_generation_prompt = 0;
};

Role role_of(string_view name) {
  if (is(name, "tool")) return Role::kTool;
  if (is(name, "user")) return Role::kUser;
  if (is(name, "system")) return Role::kSystem;
  if (is(name, "assistant")) return Role::kAssistant;
  return Role::kOther;
}

Message read_message(const Tape& tape, size_t object) {
  Message message;
  const size_t close = tape.close(object);
  for (size_t at = object + 1; at != close; at = tape.next(at)) {
    const string_view key = tape.string(at++);
    if (is(key, "role")) {
      message.role = tape.is_string(at) ? role_of(tape.string(at)) : Role::kOther;
    } else if (is(key, "content")) {
      message.has_content = tape.is_string(at);
      message.content = message.has_content ? tape.string(at) : kNoText;
    } else if (is(key, "tool_calls")) {
      message.tool_calls = tape.truth(at) ? at : 0;
    } else if (is(key, "reasoning_content")) {
      message.has_reasoning = tape.is_string(at);
      message.reasoning = message.has_reasoning ? tape.string(at) : kNoText;
    }
  }
  return message;
}

/// Null, or what the format cannot use.
const char* read_messages(const Tape& tape, size_t array, std::vector<Message>& messages) {
  if (tape.type(array) != '[') return "messages is not a list";
  const size_t close = tape.close(array);
  for (size_t at = array + 1; at != close; at = tape.next(at)) {
    if (tape.type(at) != '{') return "a message is not an object";
    messages.push_back(read_message(tape, at));
  }
  return messages.empty() ? "there is no message" : nullptr;
}

const char* read_transcript(const Tape& tape, Transcript& transcript) {
  transcript.messages.clear();
  transcript.tools = transcript.add_generation_prompt = 0;
  if (tape.type(Tape::kRoot) != '{') return "the context is not an object";
  size_t messages = 0;
  const size_t close = tape.close(Tape::kRoot);
  for (size_t at = Tape::kRoot + 1; at != close; at = tape.next(at)) {
    const string_view key = tape.string(at++);
    if (is(key, "messages")) {
      messages = at;
    } else if (is(key, "tools")) {
      transcript.tools = tape.truth(at) ? at : 0;
    } else if (is(key, "add_generation_prompt")) {
      transcript.add_generation_prompt = tape.truth(at) ? at : 0;
    }
  }
  if (messages == 0) return "there is no message";
  return read_messages(tape, messages, transcript.messages);
}

string_view without_leading_newlines(string_view s) {
  size_t n = 0;
  while (n < s.size() && s[n] == '\n') ++n;
  return s.substr(n);
}

string_view without_trailing_newlines(string_view s) {
  while (!s.empty() && s.back() == '\n') s.remove_suffix(1);
  return s;
}

/// Where the last `tag` begins. A byte search from the end, since most contents have none.
size_t find_last(string_view s, string_view tag) {
  for (size_t size = s.size(); size != 0;) {
    const void* hit = memrchr(s.data(), tag.front(), size);
    if (hit == nullptr) break;
    const auto at = static_cast<size_t>(static_cast<const char*>(hit) - s.data());
    if (s.substr(at).starts_with(tag)) return at;
    size = at;
  }
  return string_view::npos;
}

/// Takes reasoning in <think> tags out of the content, unless it has a field of its own.
void split_reasoning(Message& message) {
  if (message.has_reasoning) return;
  const string_view content = message.content;
  const size_t last = find_last(content, kThinkEnd);
  if (last == string_view::npos) return;
  const string_view before = without_trailing_newlines(content.substr(0, content.find(kThinkEnd)));
  const size_t begin = find_last(before, kThinkBegin);
  message.reasoning =
      without_leading_newlines(begin == string_view::npos ? before : before.substr(begin + kThinkBegin.size()));
  message.content = without_leading_newlines(content.substr(last + kThinkEnd.size()));
}

/// Writes the prompt of one transcript. A function that can refuse returns null or a sentence.
class Prompt {
 public:
  Prompt(const Tape& tape, Transcript& transcript, char* begin)
      : tape_(tape), transcript_(transcript), messages_(transcript.messages), out_(begin) {}

  char* end() const { return out_.end(); }

  const char* write() {
    if (const char* wrong = write_preamble()) return wrong;
    const size_t last_query = last_query_index();
    for (size_t i = 0; i < messages_.size(); ++i) {
      if (const char* wrong = write_message(i, i > last_query)) return wrong;
    }
    if (transcript_.add_generation_prompt != 0) out_.literal("<|im_start|>assistant\n");
    return nullptr;
  }

 private:
  const char* write_preamble() {
    const Message& first = messages_.front();
    const bool own = first.role == Role::kSystem;
    if (own && !first.has_content) return "the system message has no text";
    out_.literal("<|im_start|>system\n");
    if (own) {
      out_.text(first.content);
    } else {
      out_.constant(kDefaultSystemMessage);
    }
    if (transcript_.tools == 0) {
      out_.literal("<|im_end|>\n");
      return nullptr;
    }
    return write_tools(transcript_.tools);
  }

  const char* write_tools(size_t tools) {
    if (tape_.type(tools) != '[') return "tools is not a list";
    out_.literal("\n\n");
    out_.constant(kToolsBegin);
    const size_t close = tape_.close(tools);
    for (size_t at = tools + 1; at != close; at = tape_.next(at)) {
      out_.character('\n');
      out_.json(tape_, at);
    }
    out_.constant(kToolsEnd);
    return nullptr;
  }

  /// The last user message that is no tool result in disguise; without one, the last message.
  size_t last_query_index() const {
    for (size_t i = messages_.size(); i-- > 0;) {
      const Message& m = messages_[i];
      if (m.role == Role::kUser && m.has_content &&
          !(m.content.starts_with("<tool_response>") && m.content.ends_with("</tool_response>"))) {
        return i;
      }
    }
    return messages_.size() - 1;
  }

  const char* write_message(size_t index, bool after_last_query) {
    Message& message = messages_[index];
    switch (message.role) {
      case Role::kUser:
        out_.literal("<|im_start|>user\n");
        out_.text(message.content);
        out_.literal("<|im_end|>\n");
        return nullptr;
      case Role::kSystem:
        if (index == 0) return nullptr;
        out_.literal("<|im_start|>system\n");
        out_.text(message.content);
        out_.literal("<|im_end|>\n");
        return nullptr;
      case Role::kAssistant: return write_assistant(message, after_last_query);
      case Role::kTool: write_tool_result(index); return nullptr;
      case Role::kOther: break;
    }
    return nullptr;
  }

  const char* write_assistant(Message& message, bool after_last_query) {
    split_reasoning(message);
    out_.literal("<|im_start|>assistant\n");
    if (after_last_query && !message.reasoning.empty()) {
      out_.literal("<think>\n");
      out_.text(without_trailing_newlines(without_leading_newlines(message.reasoning)));
      out_.literal("\n</think>\n\n");
      out_.text(without_leading_newlines(message.content));
    } else {
      out_.text(message.content);
    }
    if (message.tool_calls != 0) {
      if (const char* wrong = write_calls(message.tool_calls, !message.content.empty())) {
        return wrong;
      }
    }
    out_.literal("<|im_end|>\n");
    return nullptr;
  }

  const char* write_calls(size_t calls, bool newline) {
    if (tape_.type(calls) != '[') return "tool_calls is not a list";
    const size_t close = tape_.close(calls);
    for (size_t at = calls + 1; at != close; at = tape_.next(at)) {
      if (tape_.type(at) != '{') return "a tool call is not an object";
      if (newline) out_.character('\n');
      newline = true;
      if (const char* wrong = write_call(at)) return wrong;
    }
    return nullptr;
  }

  const char* write_call(size_t call) {
    struct Fields {
      size_t name = 0, arguments = 0, function = 0;
    };
    const auto fields_of = [&](size_t object) {
      Fields fields;
      const size_t close = tape_.close(object);
      for (size_t at = object + 1; at != close; at = tape_.next(at)) {
        const string_view key = tape_.string(at++);
        if (is(key, "name")) fields.name = at;
        if (is(key, "arguments")) fields.arguments = at;
        if (is(key, "function")) fields.function = at;
      }
      return fields;
    };
    Fields fields = fields_of(call);
    if (tape_.truth(fields.function)) {
      if (tape_.type(fields.function) != '{') return "a function is not an object";
      fields = fields_of(fields.function);
    }
    if (!tape_.is_string(fields.name)) return "a call has no name";
    if (fields.arguments == 0) return "a call has no arguments";
    out_.literal("<tool_call>\n{\"name\": \"");
    out_.text(tape_.string(fields.name));
    out_.literal("\", \"arguments\": ");
    if (tape_.is_string(fields.arguments)) {
      out_.text(tape_.string(fields.arguments));
    } else {
      out_.json(tape_, fields.arguments);
    }
    out_.literal("}\n</tool_call>");
    return nullptr;
  }

  void write_tool_result(size_t index) {
    const auto is_tool = [&](size_t i) { return i < messages_.size() && messages_[i].role == Role::kTool; };
    if (index == 0 || !is_tool(index - 1)) out_.literal("<|im_start|>user");
    out_.literal("\n<tool_response>\n");
    out_.text(messages_[index].content);
    out_.literal("\n</tool_response>");
    if (!is_tool(index + 1)) out_.literal("<|im_end|>\n");
  }

  const Tape& tape_;
  Transcript& transcript_;
  std::vector<Message>& messages_;
  Writer out_;
};

/// Memory that only grows, and is not cleared.
///
/// It begins on a cache line: where malloc would put it changes what S costs by half.
class Buffer {
 public:
  char* reserve(size_t size) {
    if (size > capacity_) {
      data_.reset(static_cast<char*>(::operator new(size, kAlignment)));
      capacity_ = size;
    }
    return data_.get();
  }
  char* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(char* data) const { ::operator delete(data, kAlignment); }
  };

  std::unique_ptr<char, Free> data_;
  size_t capacity_ = 0;
};

/// What both engines share: the job, and JSON text to tape.
class TapeEngine : public Engine {
 public:
  bool load(Job job) override {
    job_ = std::move(job);
    return parse();
  }
  bool compile() override { return fail("there is no template to compile"); }
  std::string_view output() const override { return {output_.data(), size_}; }

 protected:
  /// Copies the text, as anyone with a request's body must: simdjson reads beyond its end.
  bool parse() {
    const size_t size = job_.context.size();
    char* padded = input_.reserve(size + simdjson::SIMDJSON_PADDING);
    std::memcpy(padded, job_.context.data(), size);
    const auto error = parser_.parse(padded, size, false).error();
    return error == simdjson::SUCCESS || fail(simdjson::error_message(error));
  }

  Job job_;
  simdjson::dom::parser parser_;
  Buffer input_;
  Buffer output_;
  size_t size_ = 0;
};

std::string simdjson_version() {
  return "simdjson " SIMDJSON_STRINGIFY(SIMDJSON_VERSION) " " + simdjson::get_active_implementation()->name();
}

class HandWritten final : public TapeEngine {
 public:
  std::string version() const override { return simdjson_version(); }

  bool load(Job job) override {
    if (!job.template_path.ends_with("terminal-agent.jinja")) {
      return fail("only the terminal-agent format is written by hand");
    }
    return TapeEngine::load(std::move(job));
  }

  bool render() override { return render_prompt(); }
  bool end_to_end() override { return parse() && render_prompt(); }

 private:
  bool render_prompt() {
    const Tape tape(parser_.doc);
    if (const char* wrong = read_transcript(tape, transcript_)) return fail(wrong);
    char* begin = output_.reserve(kOutputPerInput * job_.context.size() + kOutputSlack);
    Prompt prompt(tape, transcript_, begin);
    if (const char* wrong = prompt.write()) return fail(wrong);
    size_ = static_cast<size_t>(prompt.end() - begin);
    return true;
  }

  Transcript transcript_;
};

/// Parses the context and copies an output that is there already: less cannot be done.
class Limit final : public TapeEngine {
 public:
  std::string version() const override { return simdjson_version() + ", memcpy"; }

  bool render() override {
    size_ = job_.expected.size();
    std::memcpy(output_.reserve(size_ + 1), job_.expected.data(), size_);
    return true;
  }
  bool end_to_end() override { return parse() && render(); }
};

}  // namespace
}  // namespace parlance::bench

int main(int argc, char** argv) {
  parlance::bench::HandWritten hand_written;
  parlance::bench::Limit limit;
  if (argc == 2 && std::string_view(argv[1]) == "limit") return parlance::bench::serve(limit);
  return parlance::bench::engine_main(hand_written, argc, argv);
}
