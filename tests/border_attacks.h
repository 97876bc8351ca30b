// Attacks at the border of the template's text and the user's: letters and marks that a composing normaliser joins
// across it.
#pragma once
#include <string>
#include <vector>

namespace parlance::testing {

/// A template whose one content touches a control token, and the content that tries to complete it or to take it away.
struct BorderAttack {
  std::string source;  ///< of the template
  std::string content;
  std::string harmless;  ///< a content beside which the template's own text is what it is
};

/// For each control token: its decomposed text cut before each mark, with the left part the template's and the right
/// one the user's, and the other way round; and its whole text with marks behind it that its last letter takes.
std::vector<BorderAttack> border_attacks(const std::vector<std::string>& control_tokens);

}  // namespace parlance::testing
