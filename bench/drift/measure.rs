/// Returns the area under the ROC curve: the chance that a graft scores lower than untouched work. A tie counts half.
pub(crate) fn area(grafts: &[f64], untouched: &[f64]) -> f64 {
    let win = |graft: f64, whole: f64| {
        if (graft - whole).abs() < 1e-9 { 0.5 } else { f64::from(u8::from(graft < whole)) }
    };
    let won: f64 = grafts.iter().map(|graft| untouched.iter().map(|whole| win(*graft, *whole)).sum::<f64>()).sum();
    won / (grafts.len() * untouched.len()) as f64
}

/// `None` is larger than every number.
pub(crate) fn median(mut numbers: Vec<Option<usize>>) -> Option<usize> {
    numbers.sort_by_key(|number| number.unwrap_or(usize::MAX));
    numbers.get(numbers.len() / 2).copied().flatten()
}

/// A share of cases, and its size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    pub(crate) some: usize,
    pub(crate) all: usize,
}

impl Share {
    pub(crate) fn add(&mut self, is_one: bool) {
        self.some += usize::from(is_one);
        self.all += 1;
    }

    pub(crate) fn ratio(self) -> f64 {
        if self.all == 0 { f64::NAN } else { self.some as f64 / self.all as f64 }
    }

    pub(crate) fn per_1000(self) -> f64 {
        self.ratio() * 1_000.0
    }
}

/// Random numbers from a fixed seed, so that two runs differ only by the scorer.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn shuffle<T>(&mut self, order: &mut [T]) {
        for last in (1..order.len()).rev() {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            order.swap(last, (self.0 % (last as u64 + 1)) as usize);
        }
    }
}
