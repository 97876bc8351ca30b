// The script of the trial, and the tables of what its answers mean. Begin reading at self_test.
#include "agent/sandbox/self_test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "agent/sandbox/bubblewrap.h"
#include "agent/sandbox/landlock.h"
#include "agent/sandbox/random_token.h"

namespace parlance::agent {

namespace {

/// Arguments: a folder outside, the port of a server outside, our process, a name of a file to make in the workspace.
/// Writes a word for each thing that is not as it should be, and `done`.
constexpr const char* kScript = R"(
{ : > "$4" && rm -- "$4"; } || echo workspace
{ : > "$1/written"; } && echo write
{ read -r line < "$1/secret"; } && echo read
{ read -r line < /etc/shadow; } && echo shadow
if [[ $2 != 0 ]]; then { : > "/dev/tcp/127.0.0.1/$2"; } && echo network; fi
if (( $3 > 64 )); then
  kill -0 "$3" && echo signal
  { : < "/proc/$3/environ"; } && echo process
fi
if [[ ! -r /proc/self/status ]]; then
  echo proc
else
  [[ $(< /proc/self/status) == *$'\nSeccomp:\t2'* ]] || echo filter
fi
echo done
)";

constexpr const char* kUnknownCause = "report this with the kernel's version";

struct Meaning {
  const char* word;
  const char* sentence;
  const char* mend = kUnknownCause;
};
constexpr Meaning kMeanings[] = {
    {"workspace", "commands cannot write in the workspace",
     "root has no more rights in the sandbox than anybody: the workspace must belong to who starts the agent"},
    {"proc", "commands see no /proc, by which the trial looks for the filter of system calls",
     "mount -t proc proc /proc"},
    {"write", "commands can write outside of the workspace"},
    {"read", "commands can read files that are none of theirs"},
    {"shadow", "commands can read /etc/shadow"},
    {"network", "commands can open connections"},
    {"signal", "commands can send signals to the agent"},
    {"process", "commands can read the agent's environment"},
    {"filter", "commands have no filter of system calls"},
};

struct Mend {
  const char* sign;  ///< in what bubblewrap says
  const char* file;  ///< and the setting of the kernel that may be the cause
  char value;
  const char* mend;
};
constexpr Mend kMends[] = {
    {"", "/proc/sys/user/max_user_namespaces", '0',
     "user namespaces are off: sysctl -w user.max_user_namespaces=15000"},
    {"", "/proc/sys/kernel/unprivileged_userns_clone", '0',
     "user namespaces are off for users: sysctl -w kernel.unprivileged_userns_clone=1"},
    {"", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1',
     "AppArmor keeps programs from user namespaces: give bwrap a profile with `userns,` in /etc/apparmor.d (Ubuntu's "
     "package apparmor-profiles has one, bwrap-userns-restrict), or sysctl -w "
     "kernel.apparmor_restrict_unprivileged_userns=0"},
    {"mount proc", nullptr, 0,
     "this container hides parts of /proc: start it with --security-opt systempaths=unconfined"},
    {"ew namespace", nullptr, 0,
     "this container or system allows no namespaces: start the container with --security-opt seccomp=unconfined "
     "--security-opt apparmor=unconfined"},
};

Error refused(const std::string& reason, const std::string& mend) { return Error(ErrorCode::usage, reason).hint(mend); }

char first_of(const char* path) {
  std::ifstream file(path);
  return static_cast<char>(file.get());
}

std::string mend_for(SandboxKind kind, const std::string& said) {
  if (kind != SandboxKind::bubblewrap) return kUnknownCause;
  for (const Mend& mend : kMends) {
    if (mend.file ? first_of(mend.file) == mend.value : said.find(mend.sign) != std::string::npos) return mend.mend;
  }
  return "run `bwrap --unshare-all --ro-bind / / true` to see more";
}

Result<void> check_there(SandboxKind kind) {
  if (kind == SandboxKind::landlock && landlock_abi() == 0) {
    if (errno == EOPNOTSUPP) {
      return refused("Landlock is off", "add landlock to the list lsm= of the kernel's command line");
    }
    return refused("this kernel has no Landlock", "Linux 5.13 has it, where CONFIG_SECURITY_LANDLOCK is set");
  }
  return {};
}

/// A server on the loopback that nobody shall reach.
class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (bind(socket_.get(), generic, size) != 0 || listen(socket_.get(), 4) != 0) return;
    if (getsockname(socket_.get(), generic, &size) == 0) port_ = ntohs(address.sin_port);
  }
  int port() const { return port_; }
  bool reached() const { return bool(Descriptor(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC))); }

 private:
  Descriptor socket_;
  int port_ = 0;
};

/// All that a program writes until it ends, or ten seconds are over.
std::string read_all(int from, SandboxedProcess& process) {
  std::string text;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end && text.size() < 65536) {
    pollfd watched{from, POLLIN, 0};
    const int ready = poll(&watched, 1, 100);
    if (ready == 0 && process.status()) break;
    if (ready <= 0) continue;
    char part[4096];
    const ssize_t size = ::read(from, part, sizeof part);
    if (size <= 0) break;
    text.append(part, static_cast<std::size_t>(size));
  }
  return text;
}

Result<std::string> run_script(const Sandbox& sandbox, int port) {
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return system_error("a pipe", errno);
  const Descriptor read_end(out[0]), nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  Descriptor write_end(out[1]);
  Launch launch;
  const std::string file = ".parlance-trial-" + random_token();  // an earlier run may have taken what can be foreseen
  launch.command = {"/bin/bash",
                    "--norc",
                    "--noprofile",
                    "-c",
                    kScript,
                    "trial",
                    sandbox.folder().path(),
                    std::to_string(port),
                    std::to_string(getpid()),
                    file};
  launch.environment = sandbox.environment();
  launch.folder = sandbox.policy().workspace;
  launch.in = nothing.get();
  launch.out = launch.err = write_end.get();
  Result<std::unique_ptr<SandboxedProcess>> process = sandbox.start(launch);
  if (!process) return process.error();
  write_end.close();
  return read_all(read_end.get(), **process);
}

/// Is the word a line of its own?
bool has_line(const std::string& text, const std::string& word) {
  return ("\n" + text).find("\n" + word + "\n") != std::string::npos;
}

}  // namespace

Result<void> self_test(const Sandbox& sandbox) {
  if (Result<void> there = check_there(sandbox.kind()); !there) return there.error();
  if (Result<void> planted = write_file(sandbox.folder().path() + "/secret", "secret\n"); !planted) {
    return planted.error();
  }
  const Listener server;
  Result<std::string> said = run_script(sandbox, sandbox.policy().network ? 0 : server.port());
  if (!said) return said.error();
  const std::string name = name_of(sandbox.kind());
  if (!has_line(*said, "done")) {
    const std::string first = said->substr(0, said->find('\n'));
    return refused(name + " does not start: " + (first.empty() ? "it said nothing" : first),
                   mend_for(sandbox.kind(), *said));
  }
  for (const Meaning& meaning : kMeanings) {
    if (has_line(*said, meaning.word)) return refused(name + " does not hold: " + meaning.sentence, meaning.mend);
  }
  const bool written = access((sandbox.folder().path() + "/written").c_str(), F_OK) == 0;
  if (written || server.reached()) return refused(name + " does not hold", kUnknownCause);
  return {};
}

}  // namespace parlance::agent
