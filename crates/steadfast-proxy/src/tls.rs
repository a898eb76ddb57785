//! Whom the proxy trusts when it speaks TLS to an upstream.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("cannot read the certificates in {path}: {source}")]
    File { path: PathBuf, source: io::Error },
    #[error("this machine has no certificates of authorities")]
    None,
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

/// Trusts the authorities of this machine (`SSL_CERT_FILE` and `SSL_CERT_DIR` replace them), and those in `extra`, as
/// Claude Code does with `NODE_EXTRA_CA_CERTS`.
pub(crate) fn trust(extra: Option<&Path>) -> Result<Arc<ClientConfig>, TrustError> {
    let mut roots = RootCertStore::empty();
    // A store often has certificates that nobody can read; the others count.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = extra {
        let refused = |error| TrustError::File { path: path.to_owned(), source: io::Error::other(error) };
        for certificate in CertificateDer::pem_file_iter(path).map_err(refused)? {
            roots.add(certificate.map_err(refused)?)?;
        }
    }
    if roots.is_empty() {
        return Err(TrustError::None);
    }
    with_roots(roots)
}

fn with_roots(roots: RootCertStore) -> Result<Arc<ClientConfig>, TrustError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
