// Writes training rows. Begin reading at export_rows.
#include "serve/capture/export.h"

#include <algorithm>
#include <map>
#include <optional>

#include "parlance/json_writer.h"
#include "parlance/tokenizer.h"
#include "parlance/tokens.h"
#include "serve/capture/reader.h"

namespace parlance::serve {

namespace {

/// A turn, and the one whose ids its prompt begins with.
struct ExportedTurn {
  Value record;
  std::optional<std::size_t> before{};
  bool has_next = false;
};

/// One row while it is made.
struct Row {
  std::vector<std::string> ids, labels, mask, turns, logprobs;
  std::vector<std::string_view> kinds;

  void add(std::string id, std::string label, std::string_view kind, std::string turn, std::string logprob) {
    mask.emplace_back(label == kIgnored ? "0" : "1");
    ids.push_back(std::move(id));
    labels.push_back(std::move(label));
    kinds.push_back(kind);
    turns.push_back(std::move(turn));
    logprobs.push_back(std::move(logprob));
  }
  static inline const std::string kIgnored = std::to_string(kIgnoredLabel);
};

std::string json_list(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) out.append(out.size() > 1 ? ", " : "").append(item);
  return out += ']';
}

std::string json_texts(const std::vector<std::string_view>& items) {
  JsonWriter list('[');
  for (const std::string_view item : items) list.item_text(item);
  return list.take();
}

void add_prompt(Row& row, Value record) {
  for (const Value& id : record["prompt"]["ids"].items())
    row.add(std::to_string(number_in(id)), Row::kIgnored, "prompt", "null", "null");
}

/// What was sampled in a turn, to be learnt or not. What the gateway wrote in the model's stead never is.
void add_sampled(Row& row, Value record, std::size_t turn, bool learnt) {
  const std::span<const Value> sampled = record["sampled"].items(), logprobs = record["logprobs"].items();
  std::vector<std::string_view> kinds(sampled.size(), "prompt");
  const auto place = [&](Value number) {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(number_in(number), 0, static_cast<std::int64_t>(kinds.size())));
  };
  for (const Value& range : record["kinds"].items()) {
    const std::span<const Value> parts = range.items();
    if (parts.size() < 3) continue;
    for (std::size_t at = place(parts[1]); at < place(parts[2]); ++at) kinds[at] = parts[0].text();
  }
  const std::span<const Value> written = record["written"].items();
  const std::size_t from = written.size() == 2 ? place(written[0]) : sampled.size();
  const std::size_t to = written.size() == 2 ? place(written[1]) : sampled.size();
  for (std::size_t at = 0; at < sampled.size(); ++at) {
    const std::string id = std::to_string(number_in(sampled[at]));
    const bool own = learnt && (at < from || at >= to);
    const std::string logprob = own && at < logprobs.size() ? json_text(logprobs[at]) : "null";
    row.add(id, own ? id : Row::kIgnored, own ? kinds[at] : "prompt", learnt ? std::to_string(turn) : "null", logprob);
  }
}

std::string line_of(const std::vector<ExportedTurn>& turns, std::size_t last, bool per_turn) {
  std::vector<std::size_t> chain;
  for (std::optional<std::size_t> at = last; at; at = turns[*at].before) chain.insert(chain.begin(), *at);
  Row row;
  for (std::size_t number = 0; number < chain.size(); ++number) {
    const Value record = turns[chain[number]].record;
    add_prompt(row, record);
    add_sampled(row, record, number, !per_turn || chain[number] == last);
  }
  const Value record = turns[last].record;
  JsonWriter made('{');
  made.text("id", record["id"].text()).text("session", record["session"].text()).text("model", record["model"].text());
  made.number("turn", number_in(record["turn"])).number("choice", number_in(record["choice"]));
  made.raw("ids", json_list(row.ids)).raw("labels", json_list(row.labels)).raw("loss_mask", json_list(row.mask));
  made.raw("kinds", json_texts(row.kinds)).raw("turns", json_list(row.turns)).raw("logprobs", json_list(row.logprobs));
  return made.take() + "\n";
}

/// The turns of a file. One whose prompt goes on from a record that is not there is left out, with a note.
std::vector<ExportedTurn> turns_of(const CaptureText& text, const ExportOptions& options, const std::string& file,
                                   const std::function<void(const std::string&)>& note) {
  std::vector<ExportedTurn> turns;
  std::map<std::string, std::size_t> by_name;
  for (const CaptureRecord& record : text.records) {
    const std::string place = file + ":" + std::to_string(record.line) + ": ";
    if (!record.intact) note(place + "the record's checksum does not match; it is skipped");
    const bool is_wanted = options.failed || record.root()["status"].text() == "answered";
    if (!record.intact || record.kind() != "turn" || !is_wanted) continue;
    ExportedTurn turn{record.root()};
    if (number_in(turn.record["prompt"]["behind"]) > 0) {
      const auto found = by_name.find(kept_name(turn.record["from"]));
      if (found == by_name.end()) {
        note(place + "the ids of the turn before are not in the file; it is left out");
        continue;
      }
      turn.before = found->second;
      turns[found->second].has_next = true;
    }
    if (!turn.record["key"].text().empty()) by_name[kept_name(turn.record)] = turns.size();
    turns.push_back(turn);
  }
  return turns;
}

}  // namespace

Result<void> export_rows(const std::vector<std::string>& paths, const ExportOptions& options,
                         const std::function<Result<void>(std::string_view line)>& take,
                         const std::function<void(const std::string&)>& note) {
  for (const std::string& path : paths) {
    const Result<std::vector<std::string>> files = capture_files(path);
    if (!files) return files.error();
    for (const std::string& file : *files) {
      const Result<CaptureText> text = read_capture(file);
      if (!text) return text.error();
      const std::vector<ExportedTurn> turns = turns_of(*text, options, file, note);
      for (std::size_t at = 0; at < turns.size(); ++at) {
        if (!options.per_turn && turns[at].has_next) continue;
        if (Result<void> taken = take(line_of(turns, at, options.per_turn)); !taken) return taken;
      }
    }
  }
  return {};
}

}  // namespace parlance::serve
