mod gate;
mod review;
mod score;
pub(super) mod start;
mod status;
mod steps;

super::commands! {
    /// Takes a request through its stages: intent, shape, decompose, executing, review, complete.
    ///
    /// A loop can be left at any stage and taken up again, in another session, on another day: where it stands is in the
    /// ledger. `steadfast run` goes through the same stages without anybody there.
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
