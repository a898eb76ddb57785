//! The hosts, one module each, all with the same doors: `wire` (as they spell it), `install`, `launch`, `stream`
//! (what a headless one prints), `transcript`.

mod claude;
mod codex;
pub mod install;
pub mod launch;
pub mod price;
mod shape;
mod skill;
pub mod stream;
pub mod transcript;
mod wire;

pub use claude::{KeptList, read_task_list, task_list_folder, text_after_write};
pub use codex::{SANDBOX_CAPABILITY, Sandbox};
pub use shape::{HandedOver, handed_over};
pub use skill::is_skill_installed;
pub use wire::{WireContext, WireError, decode, encode, transcript_path};
