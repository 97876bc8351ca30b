// ScannedPiece: a piece of a call while a scanner reads it: the JSON made of it, and the bytes that no JSON says yet.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "reply/scan/held.h"

namespace parlance::reply {

/// What is unsaid ends at the byte that is read next, and may begin in a piece before. What of it stands in this piece
/// is not copied until the piece ends, since mostly JSON says it by then.
class ScannedPiece {
 public:
  /// `json` has what was not certain of the pieces before. `unsaid` has the bytes of theirs, and is set by end().
  ScannedPiece(const char* begin, std::string& json, HeldText& unsaid)
      : json(json), unsaid_(unsaid), begin_(begin), from_(address(begin) - unsaid.size()) {}

  void end(const char* p) {
    const std::size_t all = unsaid_before(p), fresh = static_cast<std::size_t>(p - begin_);
    if (all <= fresh && !unsaid_.empty()) unsaid_.clear();
    if (all != 0) unsaid_ += {p - std::min(all, fresh), std::min(all, fresh)};
  }
  /// JSON has been given out for all before `p`.
  void said_before(const char* p) { from_ = address(p); }
  std::size_t unsaid_before(const char* p) const { return address(p) - from_; }

  std::string& json;

 private:
  static std::uintptr_t address(const char* p) { return reinterpret_cast<std::uintptr_t>(p); }

  HeldText& unsaid_;
  const char* const begin_;
  std::uintptr_t from_;  ///< where what is unsaid would begin if what came before stood in front of this piece
};

/// Room for the JSON of a usual call, where there may be one.
inline void reserve_usual(std::string& json, const char* p, const char* end) {
  constexpr std::ptrdiff_t kUsual = 128, kSmall = 16;
  if (end - p >= kSmall) json.reserve(static_cast<std::size_t>(std::min(end - p, kUsual)));
}

/// What is not certain waits for the next piece.
inline void hold_back(std::string& json, std::size_t certain, HeldText& pending) {
  if (certain == json.size()) return;
  pending.assign(std::string_view(json).substr(certain));
  json.resize(certain);
}

}  // namespace parlance::reply
