mod advance;
mod archive;
mod gate;
mod limits;
mod next;
mod objection;
mod overriding;
mod review;
mod score;
mod shape;
pub(super) mod start;
mod status;
mod waive;

use clap::Subcommand;

use crate::error::CommandError;

/// Takes a request through its stages: intent, shape, decompose, executing, review, complete.
///
/// A loop can be left at any stage and taken up again, in another session, on another day: where it stands is in the
/// ledger. `steadfast run` goes through the same stages without anybody there.
#[derive(Debug, Subcommand)]
pub(super) enum Looped {
    Start(start::Start),
    Status(status::Status),
    Score(score::Score),
    Shape(shape::Shape),
    Next(next::Next),
    Advance(advance::Advance),
    Review(review::Review),
    Gate(gate::Gate),
    Objection(objection::Objection),
    Waive(waive::Waive),
    Override(overriding::Override),
    Archive(archive::Archive),
}

impl Looped {
    pub(super) fn run(self) -> Result<(), CommandError> {
        match self {
            Self::Start(command) => command.run(),
            Self::Status(command) => command.run(),
            Self::Score(command) => command.run(),
            Self::Shape(command) => command.run(),
            Self::Next(command) => command.run(),
            Self::Advance(command) => command.run(),
            Self::Review(command) => command.run(),
            Self::Gate(command) => command.run(),
            Self::Objection(command) => command.run(),
            Self::Waive(command) => command.run(),
            Self::Override(command) => command.run(),
            Self::Archive(command) => command.run(),
        }
    }
}
