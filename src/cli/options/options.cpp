// Options by CLI11.
#include "cli/options/options.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "base/nearest.h"

namespace parlance::cli {
namespace {

const char* const kIsEmpty = "must not be empty";

/// "" for one of the words, else which they are, and the nearest.
std::string doubt_of_word(const std::string& given, const std::vector<std::string>& words) {
  if (given.empty()) return kIsEmpty;
  NearestName nearest(given);
  std::string all;
  for (const std::string& word : words) {
    if (word == given) return {};
    nearest.offer(word);
    all.append(all.empty() ? "" : &word == &words.back() ? " or " : ", ").append(word);
  }
  return "takes " + all + ", not '" + given + "'" + (nearest.best().empty() ? "" : "; " + nearest.hint());
}

/// Of any type that CLI11 reads.
template <typename Value>
Option add(CLI::App& app, const char* names, Value& into, std::string& sentence) {
  return Option(*app.add_option(names, into, std::move(sentence)));
}

}  // namespace

Option& Option::placeholder(std::string name) {
  option_.type_name(std::move(name));
  return *this;
}
Option& Option::check(ValueCheck check) {
  option_.check(std::move(check));
  return *this;
}
Option& Option::one_of(const std::vector<std::string>& words) {
  option_.check(ValueCheck([words](const std::string& given) { return doubt_of_word(given, words); }));
  return *this;
}
Option& Option::required() {
  option_.required();
  return *this;
}
Option& Option::one_value() {
  option_.allow_extra_args(false);
  return *this;
}
Option& Option::show_default() {
  option_.capture_default_str();
  return *this;
}

Option Options::add_option(const char* names, std::string& into, std::string sentence) {
  return add(app_, names, into, sentence);
}
Option Options::add_option(const char* names, std::vector<std::string>& into, std::string sentence) {
  return add(app_, names, into, sentence);
}
Option Options::add_option(const char* names, unsigned& into, std::string sentence) {
  return add(app_, names, into, sentence);
}
Option Options::add_option(const char* names, std::uint64_t& into, std::string sentence) {
  return add(app_, names, into, sentence);
}
Option Options::add_option(const char* names, std::int64_t& into, std::string sentence) {
  return add(app_, names, into, sentence);
}
Option Options::add_option(const char* names, std::function<void(const std::string&)> take, std::string sentence) {
  return Option(*app_.add_option_function<std::string>(names, take, std::move(sentence)));
}
Option Options::add_flag(const char* names, bool& into, std::string sentence) {
  return Option(*app_.add_flag(names, into, std::move(sentence)));
}
Option Options::add_unset_flag(const char* names, bool& into, std::string sentence) {
  // CLI11's own "!--name" puts "{false}" into the help
  return Option(*app_.add_flag_function(
      names, [&into](std::int64_t set) { into = set <= 0; }, std::move(sentence)));
}
Option Options::add_flag(const char* names, std::string& into, std::string sentence) {
  return Option(*app_.add_flag(names, into, std::move(sentence)));
}

void Options::examples(std::string text) { app_.footer(std::move(text)); }

void Options::forbid_empty() {
  for (CLI::Option* option : app_.get_options()) {
    const bool free_text = option->nonpositional() && option->get_type_name() == "TEXT";
    if (option->get_items_expected_max() == 0 || free_text) continue;
    const char* const why =
        option->get_type_name() == "FILE" ? "takes the name of a file, not an empty text" : kIsEmpty;
    option->check([why](const std::string& given) { return given.empty() ? std::string(why) : std::string(); });
  }
}

std::vector<std::string> Options::long_names() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  return names;
}

std::vector<std::string> Options::given() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_.get_options()) {
    if (option->count() == 0) continue;
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  return names;
}

std::string Options::set(const std::string& long_name, const std::vector<std::string>& values) const {
  CLI::Option* const option = app_.get_option("--" + long_name);
  option->clear();
  try {
    for (const std::string& value : values) option->add_result(value);
    if (!values.empty()) option->run_callback();
  } catch (const CLI::ParseError& wrong) {
    return wrong.what();
  }
  return {};
}

OptionSet::OptionSet() : app_(std::make_unique<CLI::App>()) { app_->set_help_flag(); }
OptionSet::~OptionSet() = default;

}  // namespace parlance::cli
