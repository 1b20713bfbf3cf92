#pragma once

#include <string>
#include <vector>

#include <bide/executor/report.hpp>

namespace bide {

/// The threads as a tree, a line each: those of a group indented under the thread that owns the group, in
/// submit order. Executor::dump() shows the threads of an executor like this; RunReport::unfinished and
/// Deadlock::threads() can be shown too.
///
/// From depth 32 on the indentation stays, and the line says under which thread it belongs.
std::string to_tree(const std::vector<ThreadReport>& threads);

}  // namespace bide
