//! Sessions as the hosts recorded them, also from before Steadfast was installed.
//!
//! A [`Transcript`] is read row by row, with at most one line in memory. A row becomes a [`TranscriptRecord`], the same
//! for every host; unreadable rows are counted and skipped. [`Stats`] sums a session up, [`Events`] replays it as hook
//! events, and a [`TranscriptCursor`] remembers the position in a file that still grows.

mod cost;
mod events;
mod field;
mod line;
mod listing;
mod reader;
mod record;
mod seen_items;
mod session;
mod source;
mod stats;
mod tail;
mod timeline;
mod writer;

pub use cost::Cost;
pub use events::Events;
pub use listing::{ListingError, list_transcripts, newest_transcript, transcripts_of};
#[doc(hidden)]
pub use reader::decodes;
pub use reader::{Damage, Transcript, TranscriptError};
pub use record::{
    CallEnd, CallResult, Delegated, Ended, Item, Thread, TokenUsage, TranscriptCall, TranscriptRecord, Usage, Words,
};
pub use session::{SessionEvents, session_of, subagent_files};
pub use stats::{Stats, Summing};
pub use tail::{Began, TranscriptCursor, TranscriptTail};
pub use timeline::{CallOutcome, Happening, Timeline, TimelineEntry, target};
pub use writer::Writer;

pub(crate) use field::{Flag, Number, Object, Text, TextOr};
pub(crate) use record::{CallInput, CallOutput};
