//! `human_simulator`: see `promenade::human_simulator`.

fn main() -> anyhow::Result<()> {
    promenade::human_simulator::run()
}
