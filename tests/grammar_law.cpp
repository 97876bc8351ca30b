// The law of grammars: what a grammar allows, the reader of the same format reads without a malformed event, to calls
// that are complete, of declared tools, as many as may be. grammar_law --formats FOLDER [--count N] [--seed N] [--only
// NAME]
//
// Every format is sampled for each tool choice, with parallel calls and without, with reasoning and without, as
// declared and with members in any order and text round calls. What was sampled is accepted by the matcher; with a
// planted fault the matcher refuses it unless the reader takes it for a good reply too. Prints a line for each format.
// Begin reading at check().
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "grammar/data.h"
#include "grammar/printers.h"
#include "grammar_material.h"
#include "parlance/grammar.h"
#include "parlance/json.h"
#include "parlance/reply.h"
#include "reply/scan/argument_names.h"
#include "value/dict.h"

namespace {

using namespace parlance;

struct Counts {
  std::size_t samples = 0, calls = 0, planted = 0, refused = 0, unsupported = 0;
};

struct Setting {
  ToolChoice choice;
  bool parallel;
  bool reasoning;
  bool loose;  ///< members in any order, text round calls
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Read {
  ReplyMessage message;
  bool malformed = false;
};

Read read_as_it_stands(const ReplyFormat& format, const ReplyOptions& options, const std::string& reply) {
  Read result;
  const auto sink = [&](const ReplyEvent& event) {
    result.message.add(event);
    // A grammar does not count names that a tool leaves free, so one may come twice.
    const bool known = event.text == reply::kNewArgument || event.text == reply::kNewMember;
    const bool repeats = event.kind == ReplyEvent::Kind::malformed && known;
    const bool wrong = event.kind == ReplyEvent::Kind::malformed || event.kind == ReplyEvent::Kind::broken;
    result.malformed = result.malformed || (wrong && !repeats);
  };
  ReplyParser parser = *ReplyParser::make(format, options);
  parser.feed(reply, sink);
  parser.finish(sink);
  return result;
}

/// A text, or a program, may end as a marker begins, which is told as cut off, but not where more text follows.
Read read(const ReplyFormat& format, const ReplyOptions& options, const std::string& reply) {
  Read result = read_as_it_stands(format, options, reply);
  const bool is_whole = std::all_of(result.message.calls.begin(), result.message.calls.end(),
                                    [](const ReplyCall& call) { return call.complete; });
  return is_whole && !result.malformed ? result : read_as_it_stands(format, options, reply + ".");
}

/// "" or what is wrong with what was read.
std::string fault_of(const Read& got, const Setting& setting, const std::set<std::string>& names) {
  if (got.malformed) return "malformed";
  const std::size_t calls = got.message.calls.size();
  for (const ReplyCall& call : got.message.calls) {
    if (!call.complete) return "an incomplete call";
    if (!names.contains(call.name)) return "an undeclared tool";
  }
  const bool must = setting.choice == ToolChoice::required || setting.choice == ToolChoice::named;
  if (must && calls == 0) return "no call";
  if (setting.choice == ToolChoice::none && calls > 0) return "a call";
  if (!setting.parallel && calls > 1) return "several calls";
  return {};
}

/// The text with one byte dropped, doubled or replaced.
std::string planted(std::string text, std::mt19937_64& random) {
  if (text.empty()) return "x";
  const std::size_t at = random() % text.size();
  switch (random() % 3) {
    case 0: text.erase(at, 1); break;
    case 1: text.insert(at, 1, text[at]); break;
    default: text[at] = "\"}{<>x\n:,"[random() % 9]; break;
  }
  return text;
}

class Law {
 public:
  Law(std::string name, const ReplyFormat& format, const std::string& tools, std::size_t count, std::uint64_t seed)
      : name_(std::move(name)), format_(format), tools_text_(tools), count_(count), random_(seed) {}

  bool run() {
    const auto tools = ReplyTools::from_json(tools_text_);
    if (!tools || !read_names()) return report("tools", "no list of tools");
    reader_.tools = *tools;
    for (const ToolChoice choice : {ToolChoice::automatic, ToolChoice::required, ToolChoice::named, ToolChoice::none}) {
      for (const bool parallel : {true, false}) {
        for (const bool reasoning : {true, false}) {
          if (!check({choice, parallel, reasoning, false}) || !check({choice, parallel, reasoning, true})) return false;
        }
      }
    }
    std::printf("%-28s %8zu samples %8zu calls %7zu planted %7zu refused\n", name_.c_str(), counts_.samples,
                counts_.calls, counts_.planted, counts_.refused);
    return true;
  }

 private:
  bool read_names() {
    Document document;
    if (!document.parse(tools_text_)) return false;
    for (const Value tool : items(document.root())) {
      const Value inner = find_key(*tool.dict, "function")->value;
      names_.emplace(leaf_text(find_key(*inner.dict, "name")->value));
    }
    return true;
  }

  bool report(const std::string& what, const std::string& text) {
    std::printf("%-28s FAULT: %s\n%s\n", name_.c_str(), what.c_str(), text.c_str());
    return false;
  }

  bool check(const Setting& setting) {
    GrammarOptions options;
    options.tools = tools_text_;
    options.choice = setting.choice;
    options.name = *names_.begin();
    options.parallel = setting.parallel;
    options.reasoning = setting.reasoning;
    options.any_order = options.text_around_calls = setting.loose;
    const Result<Grammar> grammar = make_grammar(format_, options);
    if (!grammar) return format_.calls.empty() || report("no grammar", grammar.error().display());
    tests::GrammarSampler sampler(inside_of(*grammar).ir, inside_of(*grammar).root, random_());
    for (std::size_t i = 0; i < count_ / 32; ++i) {
      const std::string text = sampler.sample();
      const Read got = read(format_, reader_, text);
      const std::string fault = fault_of(got, setting, names_);
      if (!fault.empty()) return report(fault, text + "\n" + got.message.to_json());
      ++counts_.samples;
      counts_.calls += got.message.calls.size();
      if (i % 50 == 0 && text.size() < 4000 && !check_matcher(*grammar, setting, text)) return false;
    }
    return true;
  }

  /// A text with a fault may still be a good reply of another content; what the grammar takes, the reader must.
  bool check_matcher(const Grammar& grammar, const Setting& setting, const std::string& text) {
    if (!grammar.accepts(text)) return report("sampled and not accepted", text);
    for (int i = 0; i < 3; ++i) {
      const std::string bad = planted(text, random_);
      ++counts_.planted;
      const bool accepted = grammar.accepts(bad);
      if (!accepted) ++counts_.refused;
      if (!accepted) continue;
      const Read got = read(format_, reader_, bad);
      if (const std::string fault = fault_of(got, setting, names_); !fault.empty()) {
        return report("accepted, but " + fault, bad + "\n" + got.message.to_json());
      }
    }
    return true;
  }

  std::string name_;
  const ReplyFormat& format_;
  const std::string& tools_text_;
  std::size_t count_;
  std::mt19937_64 random_;
  ReplyOptions reader_;
  std::set<std::string> names_;
  Counts counts_;
};

}  // namespace

int main(int argc, char** argv) {
  std::filesystem::path folder, tools = "tests/grammars/tools.json";
  std::size_t count = 2000;
  std::uint64_t seed = 20260314;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--formats") folder = argv[i + 1];
    if (option == "--tools") tools = argv[i + 1];
    if (option == "--count") count = std::strtoul(argv[i + 1], nullptr, 10);
    if (option == "--seed") seed = std::strtoul(argv[i + 1], nullptr, 10);
    if (option == "--only") only = argv[i + 1];
  }
  bool good = true;
  std::size_t formats = 0;
  const std::string tools_text = contents(tools);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    const std::string name = file.filename().string();
    if (!name.ends_with(".json") || (!only.empty() && name.find(only) == name.npos)) continue;
    std::string format_text = contents(file), own_tools = tools_text;
    if (Document document; !name.ends_with(".reply.json") && document.parse(format_text)) {  // a file of tests/replies
      format_text = grammar::json_of(find_key(*document.root().dict, "format")->value);
      const DictEntry* tools_there = find_key(*document.root().dict, "tools");
      if (tools_there != nullptr && tools_there->value.is_string()) {
        own_tools = contents(file.parent_path() / "tools" / (std::string(leaf_text(tools_there->value)) + ".json"));
      } else if (tools_there != nullptr) {
        own_tools = grammar::json_of(tools_there->value);
      }
    }
    const auto format = ReplyFormat::from_json(format_text, name);
    if (!format) {
      std::printf("%s\n", format.error().display().c_str());
      return 1;
    }
    ++formats;
    good = Law(name, *format, own_tools, count, seed).run() && good;
  }
  if (formats == 0) std::puts("no formats");
  return good && formats > 0 ? 0 : 1;
}
