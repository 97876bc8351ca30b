// What the tests of tokens run on: a tokenizer of single bytes, and templates with requests from the tree and the
// corpus.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parlance/parlance.h"
#include "parlance/tokenizer.h"

namespace parlance::testing {

/// The options of a law's program, `--name value`, over the defaults.
std::map<std::string, std::string> options_of(int argc, char** argv, std::map<std::string, std::string> defaults = {});

inline constexpr CivilTime kClock = {2026, 3, 14, 15, 9, 26, 0};

/// The control tokens of byte_tokenizer(): those of many models, some of them not special, and two that are words.
const std::vector<std::string>& control_texts();
std::unique_ptr<Tokenizer> byte_tokenizer();

/// open_tokenizer(), or byte_tokenizer() for an empty path. Ends the program where it cannot be opened.
std::unique_ptr<Tokenizer> chosen_tokenizer(const std::string& path);
/// The texts of a tokenizer's control tokens.
std::vector<std::string> control_texts_of(const Tokenizer& tokenizer);

struct Material {
  std::vector<Template> templates;
  std::vector<std::string> requests;  ///< JSON
  bool as_is = false;                 ///< they are a template's variables
};

/// The built-in formats with their examples.
Material own_material(const std::string& formats);
/// Adds the Jinja templates of a folder.
void add_templates(Material& material, const std::string& folder);
/// The corpus's templates of one language with all its conversations of that language.
Material corpus_material(const std::string& corpus, bool go);
/// Both of a corpus, Jinja's and Go's; nothing where there is none.
void add_corpus(std::vector<Material>& materials, const std::string& corpus);

}  // namespace parlance::testing
