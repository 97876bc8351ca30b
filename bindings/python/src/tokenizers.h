// Tokenizers of Python packages as tokenizers of the engine.
#pragma once
#include <memory>

#include "parlance/tokenizer.h"
#include "parlance/tokens.h"
#include "prompt.h"

namespace parlance::python {

/// A tokenizer that Python code shares. Threads: any.
struct PyTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;
  nb::object opened{};  ///< what a pickle needs: (function, its arguments); None or nothing where it cannot be pickled
  /// Of one of a file: what tells it from others. Copies share it.
  std::shared_ptr<const MadeOnce<std::string>> print = std::make_shared<MadeOnce<std::string>>();
};

/// The engine's tokenizer for one that Python gives: itself, or as parlance.tokenizer_of() makes it, whose errors this
/// raises.
PyTokenizer tokenizer_in(nb::handle given);

/// A prompt's tokens.
struct PyTokens {
  std::shared_ptr<const PromptTokens> tokens;
  std::shared_ptr<Prompt> prompt;
  nb::object rendering{};  ///< the Rendering, for pickles
};

/// A token's id. Raises TypeError for what is no int, ValueError for one that no id can be.
TokenId id_of(nb::handle object);

/// Any object with encode(str) and the texts of its ids. Its calls hold the GIL, and an exception of theirs is raised
/// by parlance's call too.
std::shared_ptr<const Tokenizer> tokenizer_of_callables(nb::object encode, nb::object token_text,
                                                        std::vector<AddedToken> added, TokenizerFacts facts);

}  // namespace parlance::python
