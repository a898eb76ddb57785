//! Plays a scenario to a real host by hand: `scripted_model SCENARIO [RECORD]` prints its address and ends with stdin.

#![expect(clippy::print_stdout, reason = "the caller reads the address")]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read;
use std::path::PathBuf;

use steadfast_sim::Scenario;
use steadfast_sim::model::ScriptedModel;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let scenario = arguments.next().ok_or("which scenario?")?;
    let cwd = std::env::current_dir()?.display().to_string();
    let values = BTreeMap::from([("CWD".to_owned(), cwd)]);
    let scenario = Scenario::load(&scenario, &values)?;
    let model = match arguments.next() {
        Some(record) => ScriptedModel::start_recording(scenario, &record)?,
        None => ScriptedModel::start(scenario)?,
    };
    println!("{}", model.url());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
