// parlance list: what a template can name, and how it can fail, from the tables that the engine
// itself reads.
//
// docs/language-jinja.md, docs/language-go.md, docs/errors.md and docs/passes.md are made of its --json
// (tools/docs.py). Begin reading at kLists.
#include <cstdlib>
#include <deque>
#include <memory>
#include <vector>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/lists.h"
#include "cli/options/options.h"
#include "cli/report.h"
#include "gotemplate/functions.h"
#include "jinja/objects/builtins.h"
#include "jinja/objects/methods.h"
#include "parlance/conversation.h"
#include "parlance/error.h"
#include "parlance/json_writer.h"
#include "parlance/source.h"
#include "parlance/transformers.h"

namespace parlance::cli {
namespace {

/// What can be said of one row, in the order it is shown; a member without text is left out.
struct Entry {
  std::string_view name;  ///< what the entry is found by
  struct Member {
    std::string_view key;
    std::string text;
    bool is_number = false;
  };
  std::vector<Member> members;
};
using Entries = std::vector<Entry>;

/// A text that is not in a table, for as long as the program runs.
std::string_view kept(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text));
}

// ---- the tables as entries

void add_rows(Entries& entries, std::span<const Builtin> rows, std::string_view type = {}) {
  for (const Builtin& row : rows) {
    entries.push_back({row.name,
                       {{"type", std::string(type)},
                        {"name", std::string(row.name)},
                        {"parameters", std::string(row.parameters)},
                        {"aliases", std::string(row.aliases)},
                        {"sentence", std::string(row.sentence)},
                        {"example", std::string(row.example)}}});
  }
}

Entries filters() {
  Entries entries;
  for (std::span<const Builtin> table : jinja::filter_tables()) add_rows(entries, table);
  return entries;
}

Entries tests() {
  Entries entries;
  add_rows(entries, jinja::test_table());
  return entries;
}

Entries globals() {
  Entries entries;
  add_rows(entries, jinja::global_table());
  return entries;
}

Entries methods() {
  Entries entries;
  for (const jinja::MethodTable& table : jinja::method_tables()) {
    const std::size_t first = entries.size();
    add_rows(entries, table.rows, table.type);
    if (!table.needs_allow_changes) continue;
    for (Entry& entry : std::span(entries).subspan(first)) entry.members.push_back({"needs", "--allow-changes"});
  }
  return entries;
}

Entries go_functions() {
  Entries entries;
  for (const gotemplate::Function& function : gotemplate::function_table()) add_rows(entries, {&function.row, 1});
  return entries;
}

Entries errors() {
  constexpr ErrorCode kCodes[] = {
#define PARLANCE_ERROR(code, python_class, title, http, exit, sentence) ErrorCode::code,
#include "parlance/errors.def"
#undef PARLANCE_ERROR
  };
  Entries entries;
  for (ErrorCode code : kCodes) {
    const ErrorFacts& row = facts(code);
    entries.push_back({row.name,
                       {{"name", std::string(row.name)},
                        {"class", std::string(row.python_class)},
                        {"title", std::string(row.title)},
                        {"http", std::to_string(row.http_status), true},
                        {"exit", std::to_string(row.exit_code), true},
                        {"sentence", std::string(row.sentence)}}});
  }
  return entries;
}

Entries releases() {
  Entries entries;
  for (const TransformersRelease& row : transformers_releases()) {
    std::string seen(row.limits_globals ? "`dict` can only be called, and namespace() refuses names that begin with `_`"
                                        : "`dict` and namespace() are Jinja2's own");
    seen += row.drops_null_members ? "; members of messages that are null are left out"
                                   : "; members of messages that are null are None";
    entries.push_back({row.name, {{"name", std::string(row.name)}, {"sentence", std::move(seen)}}});
  }
  return entries;
}

Entries formats() {
  Entries entries;
  for (const BuiltinFormat& format : builtin_formats()) {
    entries.push_back({format.name,
                       {{"name", std::string(format.name)},
                        {"aliases", std::string(format.aliases)},
                        {"syntax", std::string(syntax_name(format.syntax))},
                        {"sentence", std::string(format.sentence)}}});
  }
  return entries;
}

Entries passes() {
  Entries entries;
  for (const NormalisePass& pass : normalise_passes()) {
    entries.push_back({pass.name,
                       {{"name", std::string(pass.name)},
                        {"takes", std::string(name_of(pass.takes))},
                        {"runs", pass.by_default ? "always" : "if asked or needed"},
                        {"sentence", std::string(pass.sentence)}}});
  }
  return entries;
}

/// What is in the stores that the environment names.
Entries models() {
  const ModelStores stores = model_stores([](const char* name) -> const char* { return std::getenv(name); });
  Entries entries;
  for (const StoredModel& model : stored_models(stores))
    entries.push_back({kept(model.name), {{"name", model.name}, {"in", model.store}}});
  if (!entries.empty()) return entries;
  std::string places = stores.hf_cache + (stores.hf_cache.empty() || stores.ollama.empty() ? "" : " and in ");
  places += stores.ollama;
  say_note(places.empty() ? "no place for models is known: HOME, HF_HOME and OLLAMA_MODELS are not set"
                          : "there are no models in " + places);
  return entries;
}

struct List {
  std::string_view name;
  Entries (*entries)();
  ErrorCode missing = ErrorCode::usage;  ///< what a name is that it does not have
};
constexpr List kLists[] = {
    {"filters", filters},
    {"tests", tests},
    {"globals", globals},
    {"methods", methods},
    {"go-functions", go_functions},
    {"errors", errors},
    {"formats", formats},
    {"passes", passes},
    {"models", models, ErrorCode::file},  // which are on the disk: as -m says it
    {"releases", releases},
};

// ---- showing them

std::string entries_as_json(const Entries& entries) {
  std::string out = "[";
  for (const Entry& entry : entries) {
    out += out.size() == 1 ? "\n {" : ",\n {";
    bool first = true;
    for (const Entry::Member& member : entry.members) {
      if (member.text.empty()) continue;
      if (!first) out += ", ";
      first = false;
      append_json_string(out, member.key);
      out += ": ";
      if (member.is_number)
        out += member.text;
      else
        append_json_string(out, member.text);
    }
    out += "}";
  }
  return out += "\n]\n";
}

/// The first line has what identifies an entry, the lines below what explains it.
std::string entries_as_text(const Entries& entries) {
  std::string out;
  for (const Entry& entry : entries) {
    std::string head, body;
    for (const Entry::Member& member : entry.members) {
      if (member.text.empty()) continue;
      if (member.key == "sentence" || member.key == "example") {
        body.append("    ").append(member.text).append("\n");
      } else if (member.key == "type") {
        head.append(member.text).append(".");
      } else if (member.key == "name") {
        head += member.text;
      } else if (member.key == "parameters") {
        head.append("(").append(member.text).append(")");
      } else {
        head.append("  ").append(member.key).append(" ").append(member.text);
      }
    }
    out.append(head).append("\n").append(body);
  }
  return out;
}

/// Does `word` name the entry: itself, one of its aliases, or type.name?
bool is_named(const Entry& entry, std::string_view word) {
  if (entry.name == word) return true;
  for (const Entry::Member& member : entry.members) {
    if (member.key == "type" && member.text + "." + std::string(entry.name) == word) return true;
    if (member.key != "aliases") continue;
    const std::string padded = " " + member.text + " ";
    if (padded.find(" " + std::string(word) + " ") != padded.npos) return true;
  }
  return false;
}

Error no_such(ErrorCode code, std::string_view kind, const std::string& name, const NearestName& nearest) {
  return Error(code, "there is no " + std::string(kind) + " '" + name + "'").hint(nearest.hint());
}

struct ListCommand {
  std::string list;
  std::string name;
  bool json = false;
};

int run_list(const ListCommand& command) {
  const List* list = nullptr;
  NearestName nearest(command.list);
  for (const List& row : kLists) {
    if (row.name == command.list) list = &row;
    nearest.offer(row.name);
  }
  if (list == nullptr) return report(no_such(ErrorCode::usage, "list", command.list, nearest));
  Entries entries = list->entries();
  if (!command.name.empty()) {
    NearestName nearest_entry(command.name);
    for (const Entry& entry : entries) nearest_entry.offer(entry.name);
    std::erase_if(entries, [&](const Entry& entry) { return !is_named(entry, command.name); });
    if (entries.empty()) {
      const std::string_view kind = list->name == "passes" ? "pass" : list->name.substr(0, list->name.size() - 1);
      return report(no_such(list->missing, kind, command.name, nearest_entry));
    }
  }
  return print(command.json ? entries_as_json(entries) : entries_as_text(entries));
}

constexpr const char* kListExamples = R"(Examples:
  parlance list filters           every filter
  parlance list filters tojson    one of them
  parlance list methods str.split
  parlance list releases          of transformers, for render --transformers
  parlance list errors --json     for machines
  parlance list models            what -m finds by name: in Hugging Face's cache, in Ollama's store)";

}  // namespace

std::vector<std::string> list_names() {
  std::vector<std::string> names;
  for (const List& row : kLists) names.emplace_back(row.name);
  return names;
}

Run declare_list(Options& app) {
  auto command = std::make_shared<ListCommand>();
  app.examples(kListExamples);
  std::string names;
  for (const std::string& name : list_names()) names.append(names.empty() ? "" : ", ").append(name);
  app.add_option("LIST", command->list, "One of " + names).required();
  app.add_option("NAME", command->name, "Only the entries of this name");
  app.add_flag("--json", command->json, "Print the entries as JSON");
  return [command] { return run_list(*command); };
}

}  // namespace parlance::cli
