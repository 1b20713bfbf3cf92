#include <bide/executor/io/pipe.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>

#include <bide/executor/io/io_error.hpp>
#include <bide/executor/io/stream.hpp>

namespace bide {

namespace {

// A text, by its address: the name outlives the end of the pipe.
ObjectName text_name(const char* text) {
  return {[](const void* object) { return std::string(static_cast<const char*>(object)); }, text};
}

}  // namespace

Transfer PipeEnd::transfer(Operation::Kind kind, const char* verb) const {
  return {kind, verb, text_name(name_)};
}
CloseDescriptor PipeEnd::close(std::source_location where) {
  return CloseDescriptor(descriptor_, text_name(name_), where);
}

PipeReader::Read PipeReader::read(std::span<std::byte> bytes, std::source_location where) {
  return Read(descriptor_, transfer(Operation::Kind::read, "read from"), bytes, where);
}
Task<std::size_t> PipeReader::read_exactly(std::span<std::byte> bytes) {
  return bide::read_exactly(*this, bytes);
}

PipeWriter::Write PipeWriter::write(std::span<const std::byte> bytes, std::source_location where) {
  return Write(descriptor_, transfer(Operation::Kind::write, "write to"), bytes, where);
}
PipeWriter::WriteAll PipeWriter::write_all(std::span<const std::byte> bytes, std::source_location where) {
  return WriteAll(descriptor_, transfer(Operation::Kind::write, "write to"), bytes, where);
}

PipeEnds pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_io_error(errno, "make a pipe");
  return {PipeReader(Descriptor(ends[0])), PipeWriter(Descriptor(ends[1]))};
}

PipeReader standard_input() {
  return PipeReader(Descriptor(STDIN_FILENO, Descriptor::Owned::no), "standard input");
}
PipeWriter standard_output() {
  return PipeWriter(Descriptor(STDOUT_FILENO, Descriptor::Owned::no), "standard output");
}
PipeWriter standard_error() {
  return PipeWriter(Descriptor(STDERR_FILENO, Descriptor::Owned::no), "standard error");
}

}  // namespace bide
