//! `dummy_sim`: see `promenade::dummy_sim`.

fn main() -> anyhow::Result<()> {
    promenade::dummy_sim::run()
}
