// Begin reading at Capture::add.
#include "agent/shell/capture.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "agent/shell/clean_text.h"

namespace parlance::agent {

namespace {

std::string size_text(std::uint64_t bytes) {
  if (bytes < 10 << 10) return std::to_string(bytes) + " bytes";
  return bytes < 10 << 20 ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes >> 20) + " MiB";
}

/// Up to a line's end, if there is one in the last quarter.
std::string_view whole_lines_first(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos || end < text.size() / 4 * 3 ? text : text.substr(0, end + 1);
}

/// From a line's begin, if there is one in the first quarter.
std::string_view whole_lines_last(std::string_view text) {
  const std::size_t end = text.find('\n');
  return end == std::string_view::npos || end > text.size() / 4 ? text : text.substr(end + 1);
}

std::string replaced_text(std::size_t bytes) {
  if (bytes == 1) return "1 byte was no text (a control character, or no UTF-8), and is";
  return std::to_string(bytes) + " bytes were no text (control characters, or no UTF-8), and are";
}

void add_remark(std::string& text, const std::string& remark) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  text.append("[").append(remark).append("]\n");
}

}  // namespace

void Capture::add(std::string_view bytes) {
  const std::size_t half = limits_.shown / 2;
  bytes_ += bytes.size();
  if (head_.size() + tail_.size() + bytes.size() > limits_.shown && !file_ && !full_) {
    file_ = Descriptor(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    full_ = !file_;
    write_out(head_);
    write_out(tail_);
  }
  if (file_) write_out(bytes);
  const std::size_t first = std::min(bytes.size(), half - std::min(half, head_.size()));
  head_.append(bytes.substr(0, first));
  bytes.remove_prefix(first);
  if (bytes.size() > half) bytes.remove_prefix(bytes.size() - half);
  tail_.append(bytes);
  if (tail_.size() > 2 * half) tail_.erase(0, tail_.size() - half);
}

void Capture::write_out(std::string_view bytes) {
  bytes = bytes.substr(0, limits_.file - std::min(limits_.file, written_));
  while (!bytes.empty() && !full_) {
    const ssize_t size = ::write(file_.get(), bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    full_ = size <= 0;
    if (full_) break;
    written_ += static_cast<std::uint64_t>(size);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

Output Capture::finish() {
  Output output;
  output.bytes = bytes_;
  const std::size_t half = limits_.shown / 2;
  if (bytes_ > head_.size() && tail_.size() > half) tail_.erase(0, tail_.size() - half);
  output.cut = head_.size() + tail_.size() < bytes_;
  if (file_) output.file = inside_;
  const std::string where = !file_              ? ""
                            : written_ < bytes_ ? "; the first " + size_text(written_) + " are in " + inside_
                                                : "; the whole is in " + inside_;
  CleanText all;
  if (output.cut) {
    const std::string_view first = whole_lines_first(head_), last = whole_lines_last(tail_);
    all = clean_text(first, true, false);
    CleanText end = clean_text(last, false, true);
    all.replaced += end.replaced;
    all.overwritten = all.overwritten || end.overwritten;
    if (!all.text.empty() && all.text.back() != '\n') all.text += '\n';
    all.text += "[" + size_text(bytes_ - first.size() - last.size()) + " left out here" + where + "]\n" + end.text;
  } else {
    all = clean_text(head_ + tail_);
  }
  const std::size_t kept = head_.size() + tail_.size();
  const bool binary = all.replaced > 64 && all.replaced > kept / 10;
  if (binary) {
    output.cut = true;
    output.text = "[binary output of " + size_text(bytes_) + ", not shown" + where + "]\n";
  } else {
    output.text = std::move(all.text);
    if (all.replaced > 0) add_remark(output.text, replaced_text(all.replaced) + " shown as \xef\xbf\xbd");
    if (all.overwritten)
      add_remark(output.text,
                 "text before a carriage return, which a terminal writes over, is left out: tr '\\r' '\\n' keeps it");
  }
  return output;
}

}  // namespace parlance::agent
