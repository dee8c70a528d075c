//! `hunav_agent_manager`: see `promenade::hunav::manager`.

fn main() -> anyhow::Result<()> {
    promenade::hunav::manager::run()
}
