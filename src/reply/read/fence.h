// Fence: a line ```json that models put behind what opens a call or a list of calls, before the object that is due.
#pragma once
#include "reply/read/reading.h"

namespace parlance::reply {

class Fence {
 public:
  explicit Fence(const Reading& in) : may_stand_(may_stand(in)) {
    if (may_stand_) begun_ = trimmed_left(in.lead.view().substr(in.call->opening));
  }
  /// Whether the byte belongs to it.
  bool goes_on(char c) const {
    if (!may_stand_ || begun_.size() >= kLongest || begun_.find_first_of("[ \t\r\n") != begun_.npos) return false;
    return begun_.size() < kTicks.size() ? c == '`' : (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  /// Whether what stands before the object is no fence, or a whole one.
  bool is_whole() const { return !begun_.starts_with('`') || begun_.starts_with(kTicks); }

 private:
  static constexpr std::string_view kTicks = "```";
  static constexpr std::size_t kLongest = 16;
  static bool may_stand(const Reading& in) {
    const CallForm& form = *in.form().form;
    const bool list = in.place == Place::list && in.call->in_list == Call::InList::open && form.open.exists();
    const bool alone = form.layout == CallLayout::single && in.form().is_literal(0) && in.call->part == 1;
    return (list || alone) && in.call->opening != 0;
  }

  bool may_stand_;
  std::string_view begun_{};  ///< but for white space
};

}  // namespace parlance::reply
