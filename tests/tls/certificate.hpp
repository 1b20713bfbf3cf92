#pragma once

#include <string>

namespace bide::test {

/// A certificate that signs itself, and its key, as PEM files in a directory of their own that goes with this.
class Certificate {
 public:
  /// `names`: as OpenSSL writes a subjectAltName: "DNS:localhost,IP:127.0.0.1".
  explicit Certificate(const std::string& names);
  ~Certificate();
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;

  const std::string& certificate_file() const { return certificate_file_; }
  const std::string& key_file() const { return key_file_; }

 private:
  std::string directory_;
  std::string certificate_file_;
  std::string key_file_;
};

}  // namespace bide::test
