#include <bide/tests/tls/certificate.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace bide::test {

namespace {

void need(bool worked, const char* what) {
  if (!worked) throw std::runtime_error(what);
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace

Certificate::Certificate(const std::string& names) {
  std::string directory = (std::filesystem::temp_directory_path() / "bide-tls-XXXXXX").string();
  need(::mkdtemp(directory.data()) != nullptr, "mkdtemp");
  directory_ = directory;
  certificate_file_ = directory + "/certificate.pem";
  key_file_ = directory + "/key.pem";

  EVP_PKEY* const key = ::EVP_EC_gen("P-256");
  X509* const certificate = ::X509_new();
  need(key != nullptr && certificate != nullptr, "make a certificate");
  ::X509_set_version(certificate, X509_VERSION_3);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(certificate), -3600);
  ::X509_gmtime_adj(::X509_getm_notAfter(certificate), 3600);
  ::X509_set_pubkey(certificate, key);
  X509_NAME* const name = ::X509_get_subject_name(certificate);
  const auto* const common_name = reinterpret_cast<const unsigned char*>("bide test");
  ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name, -1, -1, 0);
  ::X509_set_issuer_name(certificate, name);
  X509_EXTENSION* const extension =
      ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names.c_str());
  need(extension != nullptr && ::X509_add_ext(certificate, extension, -1) == 1, "name a certificate");
  ::X509_EXTENSION_free(extension);
  need(::X509_sign(certificate, key, ::EVP_sha256()) > 0, "sign a certificate");

  const File certificate_out(std::fopen(certificate_file_.c_str(), "w"));
  const File key_out(std::fopen(key_file_.c_str(), "w"));
  need(::PEM_write_X509(certificate_out.get(), certificate) == 1, "write a certificate");
  need(::PEM_write_PrivateKey(key_out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1, "write a key");
  ::X509_free(certificate);
  ::EVP_PKEY_free(key);
}

Certificate::~Certificate() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

}  // namespace bide::test
