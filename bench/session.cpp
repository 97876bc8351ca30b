// What a Session costs by itself, without the tokenizer: chats that are extended turn by turn to 1 MB.
//
//     bench_session TEMPLATE...
//
// A turn is one extend() by the assistant's message and the next one of the user's. The tokenizer splits at blanks; the
// time that it takes is subtracted, and so is the conversation's first message. Prints a Markdown table: milliseconds
// of processor time for all turns, the least of the rounds. "render" is what rendering the last prompt once with spans
// costs, in microseconds. Begin reading at run_chat.
#include "parlance/session.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "measure.h"
#include "parlance/parlance.h"

namespace {

using parlance::bench::value_or_end;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// One token a word, and control tokens; counts the time that it takes.
class WordTokenizer final : public parlance::Tokenizer {
 public:
  WordTokenizer() {
    static constexpr const char* kControl[] = {"<|im_start|>",
                                               "<|im_end|>",
                                               "<|user|>",
                                               "<|assistant|>",
                                               "<|system|>",
                                               "<|eot_id|>",
                                               "<|start|>",
                                               "<|message|>",
                                               "<|end|>",
                                               "<|channel|>",
                                               "<start_of_turn>",
                                               "<end_of_turn>",
                                               "<_user>",
                                               "<_bot>",
                                               "<|im_user|>",
                                               "[gMASK]",
                                               "<|im_assistant|>",
                                               "<|im_middle|>",
                                               "<|start_header_id|>",
                                               "<|end_header_id|>"};
    parlance::CallbackTokenizer::Parts parts;
    for (const char* text : kControl) {
      parts.added.push_back({.id = number_of(text), .text = text, .special = true});
    }
    parts.encode = [this](std::string_view run, std::vector<parlance::TokenId>& ids) {
      while (!run.empty()) {
        const std::size_t line = run.find('\n');
        const std::size_t word = std::min({run.size(), run.find(' ', 1), line == run.npos ? line : line + 1});
        ids.push_back(number_of(run.substr(0, word)));
        run.remove_prefix(word);
      }
      return parlance::Result<void>();
    };
    parts.token_text = [this](parlance::TokenId id) { return texts_[static_cast<std::size_t>(id)]; };
    inner_ = std::make_unique<parlance::CallbackTokenizer>(std::move(parts));
    facts_ = inner_->facts();
  }
  parlance::Result<void> encode(std::string_view text, const std::vector<parlance::ByteSpan>* trusted,
                                std::vector<parlance::EncodedToken>& into) const override {
    const double begin = cpu_seconds();
    auto done = inner_->encode(text, trusted, into);
    spent_ += cpu_seconds() - begin;
    return done;
  }
  std::string token_text(parlance::TokenId id) const override { return inner_->token_text(id); }
  double spent() const { return spent_; }

 private:
  parlance::TokenId number_of(std::string_view text) {
    const auto found = numbers_.find(text);
    if (found != numbers_.end()) return found->second;
    texts_.emplace_back(text);
    return numbers_.emplace(text, static_cast<parlance::TokenId>(texts_.size() - 1)).first->second;
  }

  std::map<std::string, parlance::TokenId, std::less<>> numbers_;
  std::vector<std::string> texts_;
  std::unique_ptr<parlance::CallbackTokenizer> inner_;
  mutable double spent_ = 0;
};

std::vector<parlance::Message> chat_of(std::size_t turns, std::size_t bytes) {
  std::vector<parlance::Message> messages;
  for (std::size_t i = 0; i <= 2 * turns; ++i) {
    std::string text;
    for (std::size_t word = 0; text.size() < bytes; ++word) {
      text += "word" + std::to_string((i * 31 + word * 17) % 97) + (word % 12 == 11 ? ".\n" : " ");
    }
    messages.push_back({.role = i % 2 == 1 ? "assistant" : "user", .content = text + "end."});
  }
  return messages;
}

struct Cost {
  double session = 1e9, render = 1e9;  // seconds
};

Cost run_chat(const parlance::Template& chat_template, const std::vector<parlance::Message>& messages) {
  constexpr int kRounds = 7;
  Cost cost;
  for (int round = 0; round < kRounds; ++round) {
    const WordTokenizer tokenizer;
    parlance::Conversation chat;
    if (!chat.add(messages.front())) std::exit(1);
    auto session = value_or_end(parlance::Session::begin(chat_template, tokenizer, std::move(chat)));
    const double before = tokenizer.spent(), begin = cpu_seconds();
    for (std::size_t i = 1; i < messages.size(); i += 2) {
      value_or_end(session.extend(std::span(messages).subspan(i, 2)));
    }
    cost.session = std::min(cost.session, cpu_seconds() - begin - (tokenizer.spent() - before));
    parlance::Workspace workspace;
    parlance::Rendering prompt;
    for (int again = 0; again < 3; ++again) {
      const double start = cpu_seconds();
      if (!chat_template.render(session.conversation(), {}, workspace, prompt)) std::exit(1);
      cost.render = std::min(cost.render, cpu_seconds() - start);
    }
  }
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("usage: bench_session TEMPLATE...\n", stderr), 2;
  constexpr std::size_t kTurns[] = {200, 400, 800}, kBytes = 1250;  // 400 turns are 1 MB
  std::puts("| template | 200 turns ms | 400 turns ms | 800 turns ms | render µs |\n|---|---:|---:|---:|---:|");
  for (int i = 1; i < argc; ++i) {
    const std::string path = argv[i];
    const auto chat_template = value_or_end(parlance::Template::compile(value_or_end(parlance::read_file(path))));
    std::printf("| %s |", path.substr(path.rfind('/') + 1).c_str());
    double render = 0;
    for (std::size_t turns : kTurns) {
      const Cost cost = run_chat(chat_template, chat_of(turns, kBytes));
      if (turns == 400) render = cost.render;
      std::printf(" %.1f |", 1e3 * cost.session);
      std::fflush(stdout);
    }
    std::printf(" %.0f |\n", 1e6 * render);
  }
}
