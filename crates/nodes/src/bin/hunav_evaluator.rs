//! `hunav_evaluator`: see `promenade::hunav_evaluator`.

fn main() -> anyhow::Result<()> {
    promenade::hunav_evaluator::run()
}
