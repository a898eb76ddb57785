mod gate;
mod review;
mod score;
pub(super) mod start;
mod status;
mod steps;

super::commands! {
    /// Take a request through the stages of a loop.
    ///
    /// The stages are intent, shape, decompose, executing, review and complete. The ledger keeps the state of a loop,
    /// so any session can continue it on any day. `steadfast run --loop` goes through the same stages without a human.
    pub(super) enum LoopCommand {
        Start(start::Start),
        Status(status::Status),
        Score(score::Score),
        Shape(steps::Shape),
        Next(steps::Next),
        Advance(steps::Advance),
        Review(review::Review),
        Gate(gate::Gate),
        Objection(gate::Objection),
        Waive(gate::Waive),
        Override(steps::Override),
        Archive(steps::Archive),
    }
}
