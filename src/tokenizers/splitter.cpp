// Splitter by the regular expressions of the Rust crate in hf/ (hf_abi.h).
#include "tokenizers/splitter.h"

#include <utility>

#include "tokenizers/hf/hf_abi.h"

namespace parlance {
namespace {

parlance_hf_text hf_text_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Error error_of(const parlance_hf_error& error) {
  std::string message;
  if (error.message.size != 0) message.assign(reinterpret_cast<const char*>(error.message.data), error.message.size);
  parlance_hf_bytes_free(error.message);
  return Error(error.kind == PARLANCE_HF_TOO_LARGE ? ErrorCode::limit_memory : ErrorCode::tokenizer,
               std::move(message));
}

}  // namespace

struct Splitter::State {
  State(parlance_hf_splitter* made, const Options& how) : splitter(made), options(how) {}
  ~State() { parlance_hf_splitter_free(splitter); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  parlance_hf_splitter* splitter;
  Options options;
};

Splitter::Splitter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Splitter::Splitter(Splitter&&) noexcept = default;
Splitter& Splitter::operator=(Splitter&&) noexcept = default;
Splitter::~Splitter() = default;

Result<Splitter> Splitter::make(std::span<const std::string> patterns, const Options& options) {
  std::vector<parlance_hf_text> texts;
  for (const std::string& pattern : patterns) texts.push_back(hf_text_of(pattern));
  parlance_hf_error error{};
  parlance_hf_splitter* splitter = parlance_hf_splitter_open(texts.data(), texts.size(), &error);
  if (splitter == nullptr) return error_of(error);
  return Splitter(std::make_unique<State>(splitter, options));
}

bool Splitter::keeps_text() const { return !state_->options.drop_rest; }

Result<void> Splitter::split(std::string_view text, std::vector<ByteSpan>& words) const {
  parlance_hf_spans spans{};
  parlance_hf_error error{};
  if (parlance_hf_split(state_->splitter, hf_text_of(text), state_->options.drop_rest ? 1 : 0, &spans, &error) == 0)
    return error_of(error);
  words.reserve(words.size() + spans.size);
  for (std::size_t i = 0; i < spans.size; ++i) words.push_back({spans.data[i].begin, spans.data[i].end});
  parlance_hf_spans_free(spans);
  return {};
}

}  // namespace parlance
