#pragma once

#include <string_view>

namespace bide_jobs {

/// The pages of this folder, each with its styles and scripts in it.
std::string_view timeline_page();
std::string_view worker_page();

}  // namespace bide_jobs
