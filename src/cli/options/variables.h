// Variables of a template from the command line: --var, which guesses whether JSON is meant, and what says so.
//
//     --var KEY=VALUE        JSON where VALUE is JSON, else text: n=1 is a number, on=true a boolean, name=Ada a text,
//                            n=007 too. What begins like JSON ([ { ") must be JSON. Words that another language has
//                            for JSON's (True, None) are refused: as texts they would all be true.
//     --var-text KEY=TEXT    text, whatever it looks like
//     --var-json KEY=JSON    JSON, or an error
//     --var-file KEY=FILE    what is in FILE: JSON where its name ends in .json (or .json.gz, .json.zst), else text,
//                            byte for byte
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "parlance/result.h"

namespace parlance::cli {

class Options;

struct VariableWish {
  std::vector<std::string> guessed, texts, jsons, files;
  bool any() const { return !guessed.empty() || !texts.empty() || !jsons.empty() || !files.empty(); }
};
void declare_variables(Options& app, VariableWish& wish);
/// Names and values as JSON; the last of a name counts. Fails with usage (place where JSON is broken), file, json.
Result<std::vector<std::pair<std::string, std::string>>> variables_of(const VariableWish& wish);

}  // namespace parlance::cli
