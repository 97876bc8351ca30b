// EventReader: finds the data of server-sent events, or lines, in pieces of a stream.
#pragma once
#include <string>
#include <string_view>

namespace parlance::serve {

class EventReader {
 public:
  /// Calls `take(std::string_view)` with the data of each event that is complete; other fields are skipped, and a line
  /// of data is taken for all of its event, as engines write it. Without `events`, with each line.
  template <typename Take>
  void feed(std::string_view piece, bool events, Take&& take) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      if (end == piece.npos) {
        line_ += piece;
        return;
      }
      if (line_.empty()) {
        one(piece.substr(0, end), events, take);
      } else {
        line_ += piece.substr(0, end);
        one(line_, events, take);
        line_.clear();
      }
      piece.remove_prefix(end + 1);
    }
  }
  /// Bytes of a line that is not complete.
  std::size_t held() const { return line_.size(); }

 private:
  template <typename Take>
  static void one(std::string_view line, bool events, Take&& take) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!events) return take(line);
    constexpr std::string_view kData = "data:";
    if (!line.starts_with(kData)) return;
    line.remove_prefix(kData.size());
    if (line.starts_with(' ')) line.remove_prefix(1);
    take(line);
  }

  std::string line_;
};

}  // namespace parlance::serve
