// Conversations that try to forge control tokens: attack strings, and where they are put into a request.
#pragma once
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace parlance::testing {

/// Ways to write a control token's text so that something on its way may become one: whole, in halves, in another case,
/// in JSON, HTML and URL escapes, between blanks, one within another, as a number.
std::vector<std::string> attack_strings(const std::vector<std::string>& control_tokens);

/// A request, JSON, in whose strings attacks are put.
class AttackedRequest {
 public:
  explicit AttackedRequest(std::string json);
  /// The request with one to four of its strings attacked: replaced, begun, ended or broken up by an attack. Names of
  /// members are attacked too, where they are the user's own (arguments, properties). Roles seldom, since few templates
  /// render one they do not know. An attack that is split over two strings has its halves in neighbours.
  std::string attacked(const std::vector<std::string>& attacks, std::mt19937_64& random) const;

 private:
  struct Place {
    std::size_t begin, end;  ///< between the quotes
  };
  std::string json_;
  std::vector<Place> places_;
};

}  // namespace parlance::testing
