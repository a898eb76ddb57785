//! The demo with the real hosts.

use crate::agents::Program;
use crate::world::Scene;

on_every_host!(the_demo_shows_the_refusals_of_its_script);

fn the_demo_shows_the_refusals_of_its_script(program: &Program) {
    let scene = Scene::bare(program);
    let said = scene.steadfast(&[
        "demo",
        "--host",
        program.host().as_str(),
        "--program",
        program.path.to_str().unwrap(),
        "--limit",
        "180",
    ]);
    let simulated = scene.steadfast(&["demo"]);
    // Below the line that names the host, a real one says the same as the simulated agent.
    let below = |text: &str| text.split_once("\n\n").map(|(_, below)| below.to_owned()).unwrap();
    assert_eq!(below(&said), below(&simulated));
}
