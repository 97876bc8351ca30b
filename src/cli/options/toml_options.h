// A TOML file as options of a command: each key is an option's long name, each value what it is given.
//
//     port = 9000
//     [[model]]
//     model = "model.gguf"
//     var = ["enable_thinking=false"]
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "parlance/result.h"

namespace parlance::cli {

struct TomlOption {
  std::string name;
  std::vector<std::string> values;
  Location where;
};
struct TomlOptions {
  std::vector<TomlOption> whole;                ///< outside of tables
  std::vector<std::vector<TomlOption>> tables;  ///< those of [[NAME]]
};

/// Reads a file whose tables are all called `table`. Fails with file, and with usage, with the place: no TOML, another
/// table, a value of a kind that no option takes.
Result<TomlOptions> read_toml(const std::string& path, const std::string& table);
/// Gives them to options that were declared, but for those whose names are in `except`. Fails with usage, with the
/// place: no such option, a value that it does not take. `of_the_top`: options that stand outside of tables.
Result<void> apply(const std::vector<TomlOption>& given, Options options, const std::vector<std::string>& except = {},
                   const std::vector<std::string>& of_the_top = {});

}  // namespace parlance::cli
