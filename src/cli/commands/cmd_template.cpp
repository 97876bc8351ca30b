// parlance template: a model's template, where it came from, and what comes along with it.
//
// Begin reading at run_template.
#include <algorithm>
#include <memory>

#include "base/sha256.h"
#include "base/visible.h"
#include "cli/commands.h"
#include "cli/options/options.h"
#include "cli/options/template_choice.h"
#include "cli/report.h"
#include "cli/texts_json.h"
#include "parlance/json_writer.h"

namespace parlance::cli {
namespace {

struct TemplateCommand {
  TemplateWish wish;
  bool list = false;
  bool text = false;
  bool json = false;
};

// ---- for people

/// One line, whatever stands in the value: as a JSON string where it is no plain word.
std::string on_one_line(std::string_view value) {
  constexpr std::size_t kMost = 200;
  const bool is_plain = value.find_first_of(" \t\r\n\"\\") == value.npos && !value.empty() && value.size() <= kMost;
  return is_plain ? std::string(value) : in_quotes(value);
}

class Table {
 public:
  /// What a terminal would obey is shown as a picture: names and notes hold strangers' text.
  void add(std::string_view key, std::string_view value) {
    constexpr std::size_t kWidth = 15;
    append_visible(out_, key);
    out_.append(key.size() < kWidth ? kWidth - key.size() : 1, ' ');
    append_visible(out_, value, "");
    out_ += '\n';
  }
  void add_flag(std::string_view key, const std::optional<bool>& value) {
    if (value) add(key, *value ? "yes" : "no");
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string template_as_text(const ModelSource& source, const NamedTemplate& chosen) {
  Table table;
  table.add("name", chosen.name);
  table.add("syntax", syntax_name(chosen.syntax));
  table.add("origin", chosen.origin);
  table.add("sha256", sha256(chosen.text));
  table.add("bytes", std::to_string(chosen.text.size()));
  for (const NamedTemplate& other : source.templates) {
    if (&other != &chosen) table.add("also", other.name);
  }
  for (const SpecialToken& token : source.special_tokens) {
    const std::string id = token.id < 0 ? "" : " (" + std::to_string(token.id) + ")";
    table.add(token.name, on_one_line(token.text) + id);
  }
  table.add_flag("adds bos", source.add_bos_token);
  table.add_flag("adds eos", source.add_eos_token);
  if (!source.system.empty()) table.add("system", on_one_line(source.system));
  for (const SourceMessage& message : source.messages)
    table.add("message", message.role + " " + on_one_line(message.content));
  for (const SourceParameter& parameter : source.parameters)
    table.add("parameter", parameter.name + " " + on_one_line(parameter.value));
  for (const std::string& note : source.notes) table.add("note", note);
  std::string out = table.take() + "\n";
  append_visible(out, chosen.text);  // --text has it unchanged
  if (out.back() != '\n') out += '\n';
  return out;
}

// ---- for machines

void add_facts(JsonWriter& object, const NamedTemplate& t) {
  object.text("name", t.name)
      .text("syntax", syntax_name(t.syntax))
      .text("origin", t.origin)
      .text("sha256", sha256(t.text));
  object.key("bytes") += std::to_string(t.text.size());
}

std::string list_as_json(const ModelSource& source) {
  std::string out = "[";
  for (const NamedTemplate& t : source.templates) {
    JsonWriter object('{');
    add_facts(object, t);
    out.append(out.size() == 1 ? "\n " : ",\n ").append(object.take());
  }
  return out += "\n]\n";
}

std::string tokens_as_json(const ModelSource& source) {
  JsonWriter list('[');
  for (const SpecialToken& token : source.special_tokens) {
    JsonWriter object('{');
    object.text("name", token.name).text("text", token.text);
    if (token.id >= 0) object.key("id") += std::to_string(token.id);
    list.next() += object.take();
  }
  return list.take();
}

template <typename Item>
std::string pairs_as_json(const std::vector<Item>& items, std::string_view first, std::string Item::*one,
                          std::string_view second, std::string Item::*two) {
  JsonWriter list('[');
  for (const Item& item : items) {
    JsonWriter object('{');
    object.text(first, item.*one).text(second, item.*two);
    list.next() += object.take();
  }
  return list.take();
}

std::string template_as_json(const ModelSource& source, const NamedTemplate& chosen) {
  JsonWriter object('{');
  object.text("path", source.path);
  add_facts(object, chosen);
  object.text("text", chosen.text);
  std::vector<std::string_view> names;
  for (const NamedTemplate& t : source.templates) names.push_back(t.name);
  object.key("names") += texts_as_json(names);
  object.key("special_tokens") += tokens_as_json(source);
  object.flag("add_bos_token", source.add_bos_token).flag("add_eos_token", source.add_eos_token);
  object.text("system", source.system);
  object.key("messages") +=
      pairs_as_json(source.messages, "role", &SourceMessage::role, "content", &SourceMessage::content);
  object.key("parameters") +=
      pairs_as_json(source.parameters, "name", &SourceParameter::name, "value", &SourceParameter::value);
  object.key("stop") += texts_as_json(source.stop());
  object.key("notes") += texts_as_json(source.notes);
  return object.take() + "\n";
}

// ---- the command

int print_list(const ModelSource& source) {
  std::string out;
  for (const NamedTemplate& t : source.templates) out.append(t.name).append("\n");
  return print(out);
}

Result<void> check_template_options(const TemplateCommand& command) {
  const TemplateWish& wish = command.wish;
  const bool has_other = !wish.file.empty() || !wish.model.empty();
  Error::Parts parts;
  parts.code = ErrorCode::usage;
  if (has_other == !wish.format.empty()) {
    parts.message = has_other ? "-f excludes -t and -m" : "which template? give -m MODEL, -t FILE or -f FORMAT";
    return Error(std::move(parts));
  }
  if (command.text + command.json + command.list > 1 && !(command.json && command.list)) {
    parts.message = "--text stands alone: with --json or --list there is more than a text";
    return Error(std::move(parts));
  }
  return {};
}

int run_template(const TemplateCommand& command) {
  if (Result<void> checked = check_template_options(command); !checked) return report(checked.error());
  const Result<ModelSource> found = find_templates(command.wish);
  if (!found) return report(found.error());
  const ModelSource& source = *found;
  if (command.list) return command.json ? print(list_as_json(source)) : print_list(source);
  const std::string& name = command.wish.name;
  const Result<const NamedTemplate*> chosen =
      source.choose(name.empty() ? std::nullopt : std::optional<std::string_view>(name), false);
  if (!chosen) return report(chosen.error());
  if (command.text) return print((*chosen)->text);
  return print(command.json ? template_as_json(source, **chosen) : template_as_text(source, **chosen));
}

constexpr const char* kTemplateExamples = R"(Examples:
  parlance template -m model.gguf                     its template, and what is known of it
  parlance template -m name:7b --text > chat.gotmpl   the text alone, of a model in Ollama's store
  parlance template -m org/name --list                the names of its templates, from Hugging Face's cache)";

}  // namespace

Run declare_template(Options& app) {
  auto command = std::make_shared<TemplateCommand>();
  TemplateCommand& c = *command;
  app.examples(kTemplateExamples);
  app.add_option("-m,--model", c.wish.model, kModelOption).placeholder("MODEL");
  app.add_option("-t,--template", c.wish.file, "A template; with -m it gets what else that model has")
      .placeholder("FILE");
  app.add_option("-f,--format", c.wish.format, "A built-in format").placeholder("FORMAT");
  app.add_option("--name", c.wish.name, "Use this one of a model's named templates").placeholder("NAME");
  app.add_flag("--list", c.list, "Print the names of a model's templates");
  app.add_flag("--text", c.text, "Print the template's text and nothing else");
  app.add_flag("--json", c.json, "Print everything as JSON");
  return [command] { return run_template(*command); };
}

}  // namespace parlance::cli
