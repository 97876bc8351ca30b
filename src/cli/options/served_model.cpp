// Opens served models. Begin reading at open_served and each_option.
#include "cli/options/served_model.h"

#include <algorithm>
#include <filesystem>

#include "cli/civil_time.h"
#include "cli/options/reply_choice.h"
#include "parlance/json.h"
#include "parlance/json_writer.h"
#include "parlance/source.h"

namespace parlance::cli {
namespace {

/// The table of options. `visit` takes a name and a text, a flag, or a list of texts.
template <typename Wish, typename Visit>
void each_option(Wish& wish, const Visit& visit) {
  auto& prompt = wish.prompt;
  visit("model", prompt.wish.model);
  visit("format", prompt.wish.format);
  visit("template", prompt.wish.file);
  visit("name", prompt.wish.name);
  visit("allow_changes", prompt.wish.compile.allow_changes);
  visit("syntax", prompt.syntax);
  visit("as_is", prompt.as_is);
  visit("as_transformers", prompt.as_transformers);
  visit("transformers", prompt.transformers);
  visit("no_adapt", prompt.no_adapt);
  visit("var", prompt.variables.guessed);
  visit("var_text", prompt.variables.texts);
  visit("var_json", prompt.variables.jsons);
  visit("var_file", prompt.variables.files);
  visit("skip_pass", prompt.skip_passes);
  visit("pass", prompt.extra_passes);
  visit("reasoning_effort", prompt.effort);
  visit("generation_prompt", prompt.generation_prompt);
  visit("no_generation_prompt", prompt.no_generation_prompt);
  visit("continue", prompt.continue_last);
  visit("now", prompt.now);
  visit("limits", prompt.limits);
  visit("tokenizer", wish.tokenizer.path);
  visit("special_token", wish.tokenizer.special_tokens);
  visit("model_as", wish.tokenizer.model_as);
  visit("split", wish.tokenizer.split);
  visit("trust", wish.tokenize.trust);
  visit("plain_added", wish.tokenize.plain_added);
}

struct WriteOption {
  JsonWriter& into;
  void operator()(std::string_view name, const std::string& value) const {
    if (!value.empty()) into.text(name, value);
  }
  void operator()(std::string_view name, bool value) const {
    if (value) into.flag(name, true);
  }
  void operator()(std::string_view name, const std::vector<std::string>& values) const {
    if (std::all_of(values.begin(), values.end(), [](const std::string& one) { return one.empty(); })) return;
    JsonWriter list('[');
    for (const std::string& one : values) list.item_text(one);
    into.raw(name, list.take());
  }
};

struct ReadOption {
  Value from;
  void operator()(std::string_view name, std::string& value) const {
    if (from[name].is_string()) value = from[name].text();
  }
  void operator()(std::string_view name, bool& value) const {
    if (from[name].is(Kind::boolean)) value = from[name].integer != 0;
  }
  void operator()(std::string_view name, std::vector<std::string>& values) const {
    if (!from[name].is_sequence()) return;
    values.clear();
    for (const Value& one : from[name].items()) values.emplace_back(one.text());
  }
};

/// A path that exists, so that it is found from another folder too.
std::string lasting(const std::string& path) {
  std::error_code failed;
  if (path.empty() || !std::filesystem::exists(path, failed)) return path;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  return failed ? path : whole.string();
}

/// The two parts of KEY=FILE.
std::string_view key_with_equals(std::string_view given) { return given.substr(0, given.find('=') + 1); }
std::string file_behind_key(std::string_view given) { return std::string(given.substr(given.find('=') + 1)); }

std::vector<std::string> files_of_variables(const VariableWish& wish) {
  std::vector<std::string> files;
  for (const std::string& given : wish.files) files.push_back(file_behind_key(given));
  return files;
}

/// No client sends a table: what its calls have, a model wrote, and a session is found again by it.
void leave_nulls(Passes& passes) {
  if (!passes.asks_for(Pass::null_columns)) passes.skip(Pass::null_columns);
}

}  // namespace

Result<serve::ModelOptions> open_served(ServedWish& wish) {
  if (Result<void> checked = check_protection(wish.tokenize); !checked) return checked.error();
  PromptSetup setup;
  if (Result<void> done = prepare(wish.prompt, true, setup); !done) return done.error();
  Result<std::unique_ptr<Tokenizer>> tokenizer = open_chosen(wish.tokenizer, wish.prompt, setup);
  if (!tokenizer) return tokenizer.error();
  if (const BuiltinFormat* const builtin = find_format(wish.prompt.wish.format)) {
    Result<ReplyFormat> format = replies_of(*builtin);
    if (!format) return format.error();
    setup.request.reply_format = std::move(*format);
  }
  leave_nulls(setup.request.read.passes);
  setup.request.control_tokens = (*tokenizer)->control_texts();
  setup.open_reader();
  std::vector<std::string> tokenizer_files = (*tokenizer)->facts().files;
  return serve::ModelOptions{.reader = std::move(*setup.reader),
                             .tokenizer = std::move(*tokenizer),
                             .render = setup.render,
                             .clock = wish.prompt.now.empty() ? local_time_now : nullptr,
                             .tokenize = wish.tokenize,
                             .source = source_json(wish),
                             .tokenizer_files = std::move(tokenizer_files),
                             .variable_files = files_of_variables(wish.prompt.variables)};
}

std::string source_json(const ServedWish& wish) {
  ServedWish lasts = wish;
  for (std::string* path : {&lasts.prompt.wish.model, &lasts.prompt.wish.file, &lasts.tokenizer.path})
    *path = lasting(*path);
  for (std::string& given : lasts.prompt.variables.files)
    given = std::string(key_with_equals(given)) + lasting(file_behind_key(given));
  JsonWriter made('{');
  each_option(std::as_const(lasts), WriteOption{made});
  if (!wish.tokenize.protect) made.flag("protect", false);
  return made.take();
}

Result<void> read_source(std::string_view json, ServedWish& wish) {
  Document parsed;
  if (Result<void> read = parsed.parse(json); !read) return read;
  each_option(wish, ReadOption{parsed.root()});
  const Value protect = parsed.root()["protect"];
  if (protect.is(Kind::boolean)) wish.tokenize.protect = protect.integer != 0;
  return {};
}

}  // namespace parlance::cli
