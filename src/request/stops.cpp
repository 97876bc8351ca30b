// The tokens that end a reply, by its format. Begin reading at RequestReader::stop_tokens.
#include <algorithm>

#include "parlance/request.h"
#include "reply/marker_texts.h"

namespace parlance {
namespace {

std::string_view stripped(std::string_view text) {
  constexpr std::string_view kBlank = " \n\r\t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  return text.substr(0, text.find_last_not_of(kBlank) + 1);
}

/// The texts that end a reply, in every spelling, without the white space around them.
std::vector<std::string_view> end_texts(const ReplyFormat& format) {
  std::vector<std::string_view> ends;
  for (const ReplyMarker& marker : format.end) {
    for (const std::string& text : marker.texts) ends.push_back(stripped(text));
  }
  return ends;
}

bool has(const std::vector<std::string_view>& texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

/// The control token with this text, if there is one.
std::optional<TokenId> control_id(const Tokenizer& tokenizer, std::string_view text) {
  const TokenizerFacts& facts = tokenizer.facts();
  for (const AddedToken& token : facts.added) {
    if (token.control && token.text == text) return token.id;
  }
  const auto marker = std::find_if(facts.markers.begin(), facts.markers.end(),
                                   [&](TokenId id) { return tokenizer.token_text(id) == text; });
  return marker == facts.markers.end() ? std::nullopt : std::optional(*marker);
}

/// Whether control tokens are parts of the text.
bool is_of_several(const Tokenizer& tokenizer, std::string_view text) {
  const std::vector<std::string> controls = tokenizer.control_texts();
  return std::any_of(controls.begin(), controls.end(), [&](const std::string& control) {
    return !control.empty() && control.size() < text.size() && text.find(control) != text.npos;
  });
}

}  // namespace

Result<std::vector<StopToken>> RequestReader::stop_tokens(const Tokenizer& tokenizer,
                                                          const RenderOptions& options) const {
  const Result<Template>& compiled = chat_template(false);
  if (!compiled) return compiled.error();
  Result<std::vector<StopToken>> found = stop_set(*compiled, tokenizer, model().special_tokens, options);
  if (!found) return found;
  const Result<ReplyStart> start = reply();
  if (!start && this->options().reply_format) return start.error();  // it is refused
  if (!start || start->format.source().end.empty()) return found;
  const ReplyFormat& format = start->format.source();
  const std::vector<std::string_view> ends = end_texts(format);
  // Behind a call or a channel the template writes tokens that end no reply. A text without a token stays: it has the
  // next turn's role behind it, which the format need not have. Where each end is written with several tokens, the
  // template's token behind an answer stays, if it is in no marker.
  const bool in_parts =
      std::all_of(ends.begin(), ends.end(), [&](std::string_view end) { return is_of_several(tokenizer, end); });
  const reply::MarkerTexts markers(format);
  std::erase_if(*found, [&](const StopToken& stop) {
    return stop.id >= 0 && !stop.declared && !has(ends, stop.text) &&
           (!in_parts || stop.after_calls || markers.have(stop.text));
  });
  for (const std::string_view end : ends) {
    const std::optional<TokenId> id = control_id(tokenizer, end);
    const bool is_known =
        std::any_of(found->begin(), found->end(), [&](const StopToken& stop) { return stop.text == end; });
    if (id && !is_known) found->push_back({.id = *id, .text = std::string(end), .sources = {"the reply format"}});
  }
  return found;
}

}  // namespace parlance
