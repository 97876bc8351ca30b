// What tokens cost beside the tokenizer's own encode, and what a chat costs that is extended turn by turn.
//
//     bench_tokens TOKENIZER TEMPLATE REQUEST.json... [--rounds N]
//
// Prints a Markdown table. "encode" is Tokenizer::encode of the whole prompt, which is all that the tokenizer does by
// itself; "tokenize" is all of parlance's tokenize() from the rendering: trust, the check for forged tokens, origins,
// masks. "session" begins with the first two messages of a chat of 400 turns and is extended by each following one; it
// stands against one encode of the whole text. Medians over the rounds, one after the other in each. Begin reading at
// main.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "measure.h"
#include "parlance/parlance.h"
#include "parlance/session.h"

namespace {

using parlance::bench::Clock;
using parlance::bench::seconds;
using parlance::bench::timed;
using parlance::bench::value_or_end;

constexpr double kSample = 0.05;  // seconds

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

void encode_whole(const parlance::Tokenizer& tokenizer, std::string_view text,
                  std::vector<parlance::EncodedToken>& into) {
  into.clear();
  if (!tokenizer.encode(text, nullptr, into)) std::exit(1);
}

void bench_request(const parlance::Tokenizer& tokenizer, const parlance::Template& chat_template,
                   const std::string& path, int rounds) {
  const std::string json = value_or_end(parlance::read_file(path));
  parlance::Conversation chat = value_or_end(parlance::Conversation::from_json(json));
  const parlance::Rendering prompt = value_or_end(chat_template.render(chat, {.want_assistant = true}));
  std::vector<double> encodes, tokenizes, renders;
  std::vector<parlance::EncodedToken> tokens;
  parlance::Workspace workspace;
  parlance::Rendering again;
  for (int round = 0; round < rounds; ++round) {
    encodes.push_back(timed([&] { encode_whole(tokenizer, prompt.text(), tokens); }, kSample));
    tokenizes.push_back(timed([&] { value_or_end(parlance::tokenize(prompt, chat, tokenizer)); }, kSample));
    renders.push_back(timed(
        [&] {
          if (!chat_template.render(chat, {.want_assistant = true}, workspace, again)) std::exit(1);
        },
        kSample));
  }
  std::vector<double> added;
  for (int round = 0; round < rounds; ++round) {
    added.push_back(100 * (tokenizes[static_cast<std::size_t>(round)] / encodes[static_cast<std::size_t>(round)] - 1));
  }
  const std::string name = path.substr(path.rfind('/') + 1);
  std::printf("| %s | %zu | %zu | %.1f | %.1f | %.1f %% | %.1f |\n", name.c_str(), prompt.text().size(), tokens.size(),
              1e6 * median(encodes), 1e6 * median(tokenizes), median(added), 1e6 * median(renders));
}

std::string words(int turn) {
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += "word" + std::to_string((turn * 31 + i * 17) % 97) + (i % 12 == 11 ? ".\n" : " ");
  return text;
}

void bench_session(const parlance::Tokenizer& tokenizer, const parlance::Template& chat_template, int turns,
                   int rounds) {
  std::vector<parlance::Message> messages = {{.role = "system", .content = "Be brief."},
                                             {.role = "user", .content = words(0)}};
  for (int turn = 1; turn < turns; ++turn) {
    messages.push_back({.role = turn % 2 == 1 ? "assistant" : "user", .content = words(turn)});
  }
  std::vector<double> sessions, wholes;
  std::size_t bytes = 0, count = 0;
  for (int round = 0; round < rounds; ++round) {
    parlance::Conversation chat;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!chat.add(messages[i])) std::exit(1);
    }
    const Clock::time_point begin = Clock::now();
    parlance::Session session = value_or_end(parlance::Session::begin(chat_template, tokenizer, std::move(chat)));
    for (std::size_t i = 2; i + 1 < messages.size(); i += 2) {
      value_or_end(session.extend(std::span(messages).subspan(i, 2)));
    }
    sessions.push_back(seconds(begin));
    const parlance::Rendering whole = value_or_end(chat_template.render(session.conversation()));
    std::vector<parlance::EncodedToken> tokens;
    wholes.push_back(timed([&] { encode_whole(tokenizer, whole.text(), tokens); }, kSample));
    if (tokens.size() != session.ids().size()) std::exit(1);
    bytes = whole.text().size(), count = tokens.size();
  }
  std::printf(
      "\n%d messages, %zu bytes, %zu tokens: extended turn by turn %.1f ms, the whole text tokenized once %.1f ms: "
      "%.2f ×\n",
      turns + 1, bytes, count, 1e3 * median(sessions), 1e3 * median(wholes), median(sessions) / median(wholes));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fputs("usage: bench_tokens TOKENIZER TEMPLATE REQUEST.json...\n", stderr), 2;
  constexpr int kRounds = 9;
  const auto tokenizer = value_or_end(parlance::open_tokenizer(argv[1]));
  const auto chat_template = value_or_end(parlance::Template::compile(value_or_end(parlance::read_file(argv[2]))));
  std::printf(
      "%s\n\n| request | bytes | tokens | encode µs | tokenize µs | added | render µs "
      "|\n|---|---:|---:|---:|---:|---:|---:|\n",
      tokenizer->facts().kind.c_str());
  for (int i = 3; i < argc; ++i) bench_request(*tokenizer, chat_template, argv[i], kRounds);
  bench_session(*tokenizer, chat_template, 400, kRounds);
}
