// The texts of a tokenizer's control tokens. Begin reading at Tokenizer::control_texts.
#include "parlance/tokenizer.h"

namespace parlance {

std::vector<std::string> Tokenizer::control_texts() const {
  std::vector<std::string> texts;
  for (const AddedToken& token : facts_.added) {
    if (token.control && token.special) texts.push_back(token.text);
  }
  for (const TokenId id : facts_.markers) texts.push_back(token_text(id));
  return texts;
}

}  // namespace parlance
