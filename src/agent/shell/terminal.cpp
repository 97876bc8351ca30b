// The calls around a pseudo-terminal.
#include "agent/shell/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "agent/sandbox/session_folder.h"

namespace parlance::agent {

Result<Terminal> Terminal::open() {
  Terminal terminal;
  terminal.ours_ = Descriptor(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  char name[64];
  const bool made = terminal.ours_ && grantpt(terminal.ours()) == 0 && unlockpt(terminal.ours()) == 0 &&
                    ptsname_r(terminal.ours(), name, sizeof name) == 0;
  if (!made) return system_error("a pseudo-terminal", errno);
  terminal.theirs_ = Descriptor(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  terminal.behind_ = Descriptor(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!terminal.theirs_ || !terminal.behind_) return system_error(name, errno);
  terminal.reset();
  return terminal;
}

void Terminal::reset() const {
  termios settings{};
  if (tcgetattr(theirs(), &settings) != 0) return;
  settings.c_iflag = ICRNL | IUTF8;
  settings.c_oflag = 0;
  settings.c_lflag = ISIG | ICANON;
  settings.c_cflag = CS8 | CREAD | B38400;
  settings.c_cc[VMIN] = 1;
  settings.c_cc[VTIME] = 0;
  tcflow(theirs(), TCOON);
  tcsetattr(theirs(), TCSANOW, &settings);
  tcflush(theirs(), TCIFLUSH);
  const winsize size{40, 120, 0, 0};
  ioctl(ours(), TIOCSWINSZ, &size);
}

bool Terminal::type(const std::string& line) const {
  const std::string text = line + "\n";
  return ::write(ours(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

int Terminal::foreground() const {
  const int group = tcgetpgrp(ours());
  return group > 0 ? group : 0;
}

}  // namespace parlance::agent
