// A range of requests is read while the run goes on.
#include <string>
#include <vector>

#include "parlance/parlance.h"

std::vector<std::string> requests();

parlance::Result<parlance::BulkProgress> run(const parlance::RequestReader& reader,
                                             const parlance::BulkOutput& output) {
#ifdef WRONG
  const parlance::BulkInput input = parlance::bulk_input(requests());
#else
  const std::vector<std::string> texts = requests();
  const parlance::BulkInput input = parlance::bulk_input(texts);
#endif
  return parlance::render_lines(input, output, reader);
}
