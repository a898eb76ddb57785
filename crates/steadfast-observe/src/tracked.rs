use std::time::Duration;

use steadfast_model::Fact;

use crate::deadline::Deadline;
use crate::error::{ObserveError, fact};
use crate::git::Git;
use crate::repository::Checkout;

impl Checkout {
    /// The files that git knows, from the root of the checkout; those apart whose names are no text.
    pub fn tracked(&self, budget: Duration) -> Fact<Vec<String>> {
        fact(self.read_tracked(Deadline::after(budget)))
    }

    fn read_tracked(&self, deadline: Deadline) -> Result<Vec<String>, ObserveError> {
        self.checkout()?;
        let listed = Git::at(&self.root).call("ls-files").args(["-z", "--full-name"]).answer(deadline)?;
        let names = listed.split(|byte| *byte == 0).filter_map(|name| str::from_utf8(name).ok());
        Ok(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}
