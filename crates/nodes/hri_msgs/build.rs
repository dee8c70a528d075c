//! Finds the C libraries of the ROS package `hri_msgs`.

fn main() {
    println!("cargo:rerun-if-env-changed=AMENT_PREFIX_PATH");
    if let Some(prefixes) = std::env::var_os("AMENT_PREFIX_PATH") {
        for prefix in std::env::split_paths(&prefixes) {
            let folder = prefix.join("lib");
            if folder.is_dir() {
                println!("cargo:rustc-link-search=native={}", folder.display());
            }
        }
    }
}
