#include "workload_reader.hpp"

#include "csv_reader.hpp"
#include "input_error.hpp"
#include "swf_reader.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace bide_jobs {
namespace {

constexpr std::size_t most_bytes = std::size_t{512} << 20U;

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};

std::string reason(gzFile file) {
  int error = Z_OK;
  std::string text = gzerror(file, &error);
  if (error == Z_ERRNO) return std::strerror(errno);
  return text.substr(text.find(": ") + 2);  // behind zlib's name for the descriptor
}

/// The bytes of a file, unpacked when they begin with the magic of gzip.
std::string read_bytes(const std::string& path, const std::string& source) {
  int descriptor = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw InputError(source, std::string("can't be opened: ") + std::strerror(errno));
  std::unique_ptr<gzFile_s, CloseGzip> file(gzdopen(descriptor, "rb"));
  if (!file) {
    ::close(descriptor);
    throw InputError(source, "can't be read: out of memory");
  }

  std::string bytes;
  std::array<char, 1U << 16U> block;
  int count = 0;
  while ((count = gzread(file.get(), block.data(), block.size())) > 0) {
    bytes.append(block.data(), static_cast<std::size_t>(count));
    if (bytes.size() > most_bytes) throw InputError(source, "expected at most 512 MiB, unpacked");
  }
  int status = Z_OK;
  gzerror(file.get(), &status);
  // A truncated file ends like a whole one, except for this status.
  if (count < 0 || status == Z_BUF_ERROR) throw InputError(source, "can't be read: " + reason(file.get()));
  return bytes;
}

bool ends_in(std::string_view name, std::string_view ending) {
  return name.size() >= ending.size() && name.substr(name.size() - ending.size()) == ending;
}

/// A trace begins with a comment or a number; the header of a CSV with a letter or a quote.
Format format_by_content(std::string_view text) {
  std::size_t first = text.find_first_not_of(" \t\r\n");
  bool trace = first != std::string_view::npos && std::strchr(";0123456789-", text[first]) != nullptr;
  return trace ? Format::swf : Format::csv;
}

Format format_by_name(std::string_view name, std::string_view text) {
  if (ends_in(name, ".gz")) name.remove_suffix(3);
  if (ends_in(name, ".swf")) return Format::swf;
  if (ends_in(name, ".csv")) return Format::csv;
  return format_by_content(text);
}

}  // namespace

Workload parse_workload(std::string_view text, const std::string& source, const ReadOptions& options) {
  Format format = options.format == Format::guess ? format_by_name(source, text) : options.format;
  if (format == Format::csv && options.classes.field() != ClassMap::Field::none) {
    throw InputError("--classes", "expected a trace (.swf); a CSV says its classes in the column priority");
  }
  if (format == Format::csv && options.trace_slots != TraceSlots::one) {
    throw InputError("--slots", "expected a trace (.swf); a CSV says its slots in the column slots");
  }
  Workload workload =
      format == Format::swf ? parse_swf(text, source, options) : parse_csv(text, source, options);
  std::sort(workload.jobs.begin(), workload.jobs.end(), [](const Job& a, const Job& b) {
    return a.submit != b.submit ? a.submit < b.submit : a.line < b.line;
  });
  return workload;
}

Workload read_workload(const std::string& path, const ReadOptions& options) {
  std::string source = path == "-" ? "<stdin>" : path;
  std::string bytes = read_bytes(path, source);
  return parse_workload(bytes, source, options);
}

}  // namespace bide_jobs
