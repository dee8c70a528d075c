//! `hri_producer`: see `promenade::hri`.

fn main() -> anyhow::Result<()> {
    promenade::hri::run()
}
