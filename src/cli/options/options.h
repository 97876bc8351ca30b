// Options: what a command declares its options and arguments with.
//
// CLI11 reads the command line. Its headers take four seconds to compile, so the commands do not include them: only
// options.cpp, main.cpp and describe.cpp do. Begin reading at Options::add_option.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace parlance::cli {

/// Says what is wrong with a value, or "".
using ValueCheck = std::function<std::string(const std::string& value)>;

/// An option that is being declared. Each function returns the option itself, so that calls can be chained.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}
  /// What help shows in place of the value: FILE. Completions know some of them (describe.cpp).
  Option& placeholder(std::string name);
  Option& check(ValueCheck check);
  Option& one_of(const std::vector<std::string>& words);
  Option& required();
  /// An option that may be repeated takes one value each time: the next word is the next argument.
  Option& one_value();
  /// Help shows the value that the option has now.
  Option& show_default();

 private:
  CLI::Option& option_;
};

/// The options of a command. The variables that it fills must outlive the command.
class Options {
 public:
  explicit Options(CLI::App& app) : app_(app) {}
  /// An option by its names ("-o,--output"), or an argument by its name ("CHAT").
  Option add_option(const char* names, std::string& into, std::string sentence);
  Option add_option(const char* names, std::vector<std::string>& into, std::string sentence);  ///< may be repeated
  Option add_option(const char* names, unsigned& into, std::string sentence);
  Option add_option(const char* names, std::uint64_t& into, std::string sentence);
  Option add_option(const char* names, std::int64_t& into, std::string sentence);
  Option add_option(const char* names, std::function<void(const std::string&)> take, std::string sentence);
  Option add_flag(const char* names, bool& into, std::string sentence);
  /// A flag that makes it false.
  Option add_unset_flag(const char* names, bool& into, std::string sentence);
  /// A flag that may have a value: "--color{always}" counts as --color=always without one.
  Option add_flag(const char* names, std::string& into, std::string sentence);
  /// Examples, which help prints below the options.
  void examples(std::string text);
  /// Refuses an empty value wherever a value names something: `--tools "$UNSET"` would count as not given.
  void forbid_empty();

  /// The long names of all options, without dashes.
  std::vector<std::string> long_names() const;
  /// Those of the options that the command line has.
  std::vector<std::string> given() const;
  /// Gives an option values as if the command line had them, in place of others; what is wrong with them, or "".
  std::string set(const std::string& long_name, const std::vector<std::string>& values) const;

 private:
  CLI::App& app_;
};

/// Options of no command, for what is read elsewhere.
class OptionSet {
 public:
  OptionSet();
  OptionSet(const OptionSet&) = delete;
  OptionSet& operator=(const OptionSet&) = delete;
  ~OptionSet();
  Options options() { return Options(*app_); }

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace parlance::cli
