// Keeps the newest answers of the Responses API.
#include "serve/stored_responses.h"

#include <algorithm>

namespace parlance::serve {

namespace {
std::size_t size_of(const StoredResponse& response) {
  return response.json.size() + response.input.size() + response.pieces.size() * sizeof(StoredPiece);
}

auto is_named(std::string_view id, std::string_view owner) {
  return [id, owner](const auto& one) { return one->id == id && one->owner == owner; };
}
}  // namespace

void StoredResponses::keep(StoredResponse response) {
  auto made = std::make_shared<const StoredResponse>(std::move(response));
  const std::lock_guard lock(mutex_);
  bytes_ += size_of(*made);
  newest_.push_front(std::move(made));
  while (newest_.size() > kMost || bytes_ > kMostBytes) {
    bytes_ -= size_of(*newest_.back());
    newest_.pop_back();
  }
}

std::shared_ptr<const StoredResponse> StoredResponses::find(std::string_view id, std::string_view owner) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(newest_.begin(), newest_.end(), is_named(id, owner));
  return found == newest_.end() ? nullptr : *found;
}

bool StoredResponses::drop(std::string_view id, std::string_view owner) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(newest_.begin(), newest_.end(), is_named(id, owner));
  if (found == newest_.end()) return false;
  bytes_ -= size_of(**found);
  newest_.erase(found);
  return true;
}

}  // namespace parlance::serve
