// JsonIndex with simdjson: its first stage, which its parsers share. The class that offers that is meant for them, so
// this is the only file that knows it.
#include "json/index.h"

#include <simdjson.h>

#include <algorithm>

#include "json/read.h"

namespace parlance {

static_assert(JsonReader::kPadding >= simdjson::SIMDJSON_PADDING);

struct JsonIndex::Parser {
  simdjson::dom::parser dom;
};

JsonIndex::JsonIndex() : parser_(std::make_unique<Parser>()) {}
JsonIndex::~JsonIndex() = default;

bool JsonIndex::is_there() { return true; }

bool JsonIndex::find(std::string_view padded) {
  constexpr std::size_t kLeast = 1024;
  simdjson::dom::parser& parser = parser_->dom;
  if (parser.capacity() < padded.size() || parser.capacity() == 0) {
    const std::size_t capacity = std::max(kLeast, padded.size() + padded.size() / 4);
    constexpr std::size_t kDepth = 1;  // what its second stage would use
    if (parser.allocate(capacity, kDepth) != simdjson::SUCCESS) return false;
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(padded.data());
  auto& stage = *parser.implementation;
  if (stage.stage1(bytes, padded.size(), simdjson::stage1_mode::regular) != simdjson::SUCCESS) return false;
  count_ = stage.n_structural_indexes;
  stage.structural_indexes[count_] = static_cast<std::uint32_t>(padded.size());
  tokens_ = stage.structural_indexes.get();
  return true;
}

}  // namespace parlance
