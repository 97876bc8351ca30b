// The processes of a sandbox, seen from outside: all that descend from one. A process that loses its parent stays below
// the root, as this is the first process of its PID namespace or takes such processes in (PR_SET_CHILD_SUBREAPER).
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "agent/sandbox/descriptor.h"

namespace parlance::agent {

struct ProcessFacts {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';  ///< 'R', 'S', 'T', 'Z'… as /proc has it
  std::uint64_t threads = 0;
  std::uint64_t resident = 0;  ///< bytes in memory, of which others may share some
  std::uint64_t begun = 0;     ///< when it began, on the clock of ticks_now()
};

/// Since the machine has started: a process that begins later has the same or more in `begun`.
std::uint64_t ticks_now();

/// All processes of the machine that can be seen.
std::vector<ProcessFacts> all_processes();

/// All that descend from `root`, without it and without the `known`. What ends meanwhile may be missing.
std::vector<ProcessFacts> processes_below(pid_t root, const std::set<pid_t>& known = {});

/// The bytes of a process in memory, with its share of what it shares. 0: it has ended.
std::uint64_t proportional_memory(pid_t process);

/// The process below `root` that calls itself `inside` (in its PID namespace). 0: there is none.
pid_t outer_pid(pid_t root, pid_t inside);

/// 'R', 'S', 'T'…; '?': it has ended.
char state_of(pid_t process);

/// Does the process wait for somebody who types: does it read from a terminal, or wait (select, poll, epoll) until it
/// can? One that is stopped waits for nobody. The same of `pipe`, which is where its standard error goes: a program may
/// take that for its terminal.
bool waits_for_input(pid_t process, int pipe);
/// Is it in a read of its standard input, which is a terminal by its own name and not as /dev/tty?
bool waits_at_terminal_input(pid_t process);

/// All of these bytes of a process, by its /proc/PID/mem. False: they cannot be read, or `memory` is not open.
bool read_memory(const Descriptor& memory, std::uint64_t from, void* into, std::size_t size);

/// Sends a signal to all below `root`, without it.
void signal_all(pid_t root, int signal);

/// Sends a signal to each process of a group that is below `root`, one by one: the group may have ended, and its number
/// be another's. Those too that they begin meanwhile. False: there is none.
bool signal_group_below(pid_t root, pid_t group, int signal);

/// Ends all below `root`, without it: first stops them, until there are no new ones.
void kill_below(pid_t root);

}  // namespace parlance::agent
