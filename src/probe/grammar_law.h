// Whether the grammar of a format allows what the template itself writes. Begin reading at GrammarLaw::fault.
//
// A grammar that is narrower than the template keeps a model from writing what it was trained to write, which costs
// quality and shows in no test of the grammar alone.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "parlance/grammar.h"
#include "probe/read_back.h"

namespace parlance::probe {

class GrammarLaw {
 public:
  /// Lifetimes: both outlive it.
  GrammarLaw(const TurnFacts& turn, const DerivedFormat& derived);

  /// A turn as the template writes it behind the opener, under the scene's variables: what grammar refuses it, as a
  /// sentence; "" where each that is to allow it does, and where the turn is not read as it was given, which other laws
  /// are about.
  std::string fault(const Scene& scene, std::string_view body);
  /// Of how many turns grammars were asked.
  std::size_t tried() const { return tried_; }

 private:
  struct Reply {
    std::string prompt;
    std::string_view text;
  };
  std::size_t closing_of(std::string_view prompt, std::string_view body) const;
  std::string narrow_fault(const Scene& scene, const Reply& reply) const;
  Reply reply_of(const Scene& scene, std::string_view body) const;
  const Result<Grammar>& grammar_of(const GrammarOptions& options);

  const TurnFacts& turn_;
  const DerivedFormat& derived_;
  ReadBack reader_;
  std::vector<std::string> markers_;
  std::size_t tried_ = 0;
  std::map<std::string, Result<Grammar>> made_;  ///< by the setting and what the prompt ends with
};

}  // namespace parlance::probe
