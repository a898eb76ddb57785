mod tasks;
pub(crate) mod transcript;
mod wire;
mod written;

pub use tasks::{KeptList, read_task_list, task_list_folder};
pub use wire::ClaudeVersion;
pub(crate) use wire::{TEXT_LIMIT, action, can, mcp, origin, shell, words};
pub use written::text_after_write;
