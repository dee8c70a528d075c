//! A ROS domain per test process, so that tests run side by side.

use std::fs::File;
use std::sync::OnceLock;

/// Domains that are safe with Linux' ephemeral ports and that nobody uses by default.
const FIRST: u32 = 10;
const COUNT: u32 = 92;

/// Puts this process, and the processes it starts, into a ROS domain that no other test process uses. Call it before any
/// ROS context exists; later calls answer the same domain.
///
/// # Panics
/// When every domain is taken.
pub fn own_domain() -> u32 {
    static CLAIM: OnceLock<(u32, File)> = OnceLock::new();
    let (domain, _lock) = CLAIM.get_or_init(|| {
        let claim = claim().expect("every ROS domain from 10 to 101 is taken by another test process");
        // SAFETY: the first thing a test does; no thread of this process reads the environment meanwhile, since ROS and
        // DDS start theirs only after this.
        unsafe {
            std::env::set_var("ROS_DOMAIN_ID", claim.0.to_string());
            std::env::set_var("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        }
        claim
    });
    *domain
}

/// The first domain whose lock file is free; the lock lasts as long as the file stays open.
fn claim() -> Option<(u32, File)> {
    let start = std::process::id() % COUNT;
    (0..COUNT).map(|step| FIRST + (start + step) % COUNT).find_map(|domain| {
        let path = std::env::temp_dir().join(format!("promenade-ros-domain-{domain}.lock"));
        let file = File::create(path).ok()?;
        file.try_lock().ok()?;
        Some((domain, file))
    })
}
