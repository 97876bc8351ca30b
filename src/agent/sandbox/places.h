// Which folders of the system a sandbox shows, and which files in them it hides.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "agent/sandbox/policy.h"
#include "parlance/result.h"

namespace parlance::agent {

/// Folders of programs and their data, which all commands may read: /usr, /bin, /opt… as this system has them.
const std::vector<std::string>& system_folders();

/// Is `path` the folder, or below it?
bool is_within(std::string_view path, std::string_view folder);

/// May commands put another file at this path, or a link: is it the workspace or a folder that they may change, or
/// below one? What they put there decides nothing that happens outside of the sandbox.
bool is_theirs(const SandboxPolicy& policy, std::string_view path);

/// Is the path, or a link that it leads over, theirs: do commands decide what it names?
bool leads_over_theirs(const SandboxPolicy& policy, const std::string& path);

/// A path that the user names outside of what commands may change must not get there by a link of theirs.
/// Fails with: usage, which names the link and its target.
Result<void> check_way(const SandboxPolicy& policy, const std::string& path);

/// The entries of /etc that not everybody may read, and folders deeper than six in it: /etc/shadow, the keys of the SSH
/// server. Who is root, or a member of a group, could read them, but a command in the sandbox may not.
std::vector<std::string> private_entries(const std::string& folder);

/// What of the folder everybody may read: the folder itself, or where it has private entries, the parts between them.
/// Links are left out.
std::vector<std::string> public_parts(const std::string& folder);

/// Copies what of the folder everybody may read, to a folder that is made. What cannot be copied is left out: then
/// false.
bool copy_public(const std::string& folder, const std::string& to);

/// The policy with its paths made absolute, without links. A path within a folder that commands may change goes with
/// this folder, and has no right of its own: each start would give it to whatever stands at the path by then.
/// Fails with: usage where a path does not exist, or leads over a link that commands may have made, as one of an
/// earlier run may have; or where the workspace holds what commands must not change or read: the system, or a home
/// directory with its keys.
Result<SandboxPolicy> checked(SandboxPolicy policy);

/// The environment of commands: the variables that the policy names, and those that keep programs from waiting for
/// somebody who types (PAGER=cat, TERM=dumb). As NAME=value.
std::vector<std::string> environment_of(const SandboxPolicy& policy, const std::string& home,
                                        const std::string& temporary);

}  // namespace parlance::agent
