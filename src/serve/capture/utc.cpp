// Asks the clock.
#include "serve/capture/utc.h"

#include <chrono>
#include <ctime>

namespace parlance::serve {

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const auto all = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  const std::time_t seconds = all / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.", &parts);
  const std::string milliseconds = std::to_string(1000 + all % 1000);
  return std::string(text, size) + milliseconds.substr(1) + "Z";
}

}  // namespace parlance::serve
