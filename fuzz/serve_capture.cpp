// Fuzz target: any bytes as a file of a capture, read, replayed, and exported as training rows. In the first byte, 1
// seals each line, so that it counts as one that the gateway wrote, 2 makes a row for each turn, 4 one for turns
// without an answer too. Rows are JSON whose lists are of one length. Begin reading at check_rows.
#include <cstdint>
#include <cstdlib>

#include "capture_file.h"
#include "serve/capture/export.h"
#include "serve/record/replay.h"
#include "serve_model.h"
#include "small_limits.h"

namespace {

using namespace parlance;
using namespace parlance::serve;
using namespace parlance::fuzz;

void check_rows(const std::string& path, const ExportOptions& options) {
  const auto take = [](std::string_view line) -> Result<void> {
    Document row;
    if (!row.parse(line)) std::abort();
    const std::size_t size = row.root()["ids"].items().size();
    for (const char* list : {"labels", "loss_mask", "kinds", "turns", "logprobs"})
      if (row.root()[list].items().size() != size) std::abort();
    return {};
  };
  const auto done = export_rows({path}, options, take, [](const std::string&) {});
  if (!done) must_say(done.error());
}

void check_replay(const std::string& path) {
  const OpenCaptured open = [](std::string_view, const std::string& name) -> Result<ModelOptions> {
    return ModelOptions{.name = name,
                        .reader = fuzz::reader_of(false),
                        .tokenizer = fuzz::byte_tokenizer(),
                        .render = {.limits = fuzz::kSmallLimits}};
  };
  const auto done = replay({path}, open, [](const ReplayDifference& one) {
    if (one.what.empty() || one.sentence.empty()) std::abort();
  });
  if (!done) must_say(done.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const File file((data[0] & 1) != 0 ? sealed_lines(text) : std::string(text));
  check_rows(file.path(), {.per_turn = (data[0] & 2) != 0, .failed = (data[0] & 4) != 0});
  check_replay(file.path());
  return 0;
}
