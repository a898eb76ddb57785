//! Sessions as the hosts wrote them down: also those from before Steadfast.
//!
//! A [`Transcript`] is read row by row, with no more of it in memory than the longest line. A row becomes a [`TranscriptRecord`],
//! the same for every host; what cannot be read is counted and passed over. [`Stats`] sums a session up, [`Events`] tells
//! it again as the hooks would have, and a [`TranscriptCursor`] remembers how far a file that still grows was read.

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
