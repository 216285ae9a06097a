//! Numbers as they are written in texts: exact, without the rounding of a float.

/// Longer numbers are no quantities.
const DIGITS_LIMIT: usize = 24;
/// No unit and no power leads further.
const EXPONENT_LIMIT: i32 = 400;

/// `mantissa × 10^exponent`. The mantissa has no zeros at its end, so equal numbers are the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Decimal {
    mantissa: u128,
    exponent: i32,
}

impl Decimal {
    pub(super) fn of(whole: u32) -> Self {
        Self {
            mantissa: u128::from(whole),
            exponent: 0,
        }
        .trimmed()
    }

    /// The number with these digits before and after its point; `None` when it is too long.
    pub(super) fn parse(whole: &str, fraction: &str) -> Option<Self> {
        let whole = whole.trim_start_matches('0');
        if whole.len() + fraction.len() > DIGITS_LIMIT {
            return None;
        }
        let digits = whole.bytes().chain(fraction.bytes());
        let mantissa = digits.fold(0, |sum: u128, digit| {
            sum * 10 + u128::from(digit.wrapping_sub(b'0') % 10)
        });
        // The limit of the digits keeps this within any integer.
        let exponent = -(fraction.len() as i32);
        Some(Self { mantissa, exponent }.trimmed())
    }

    /// Times `10^power`.
    pub(super) fn shifted(self, power: i32) -> Self {
        if self.mantissa == 0 {
            return self;
        }
        let exponent = self.exponent.saturating_add(power);
        Self {
            exponent: exponent.clamp(-EXPONENT_LIMIT, EXPONENT_LIMIT),
            ..self
        }
    }

    /// Times a whole number; `None` when that is more than can be said.
    pub(super) fn times(self, factor: u64) -> Option<Self> {
        let mantissa = self.mantissa.checked_mul(u128::from(factor))?;
        Some(Self { mantissa, ..self }.trimmed())
    }

    /// Near enough to tell which of two numbers is the closer one.
    pub(super) fn about(self) -> f64 {
        self.mantissa as f64 * 10f64.powi(self.exponent)
    }

    /// The number, when it is whole and small.
    pub(super) fn small(self) -> Option<u32> {
        let power = u32::try_from(self.exponent)
            .ok()
            .filter(|power| *power < 9)?;
        let whole = self.mantissa.checked_mul(10u128.pow(power))?;
        u32::try_from(whole).ok()
    }

    fn trimmed(mut self) -> Self {
        if self.mantissa == 0 {
            return Self::default();
        }
        while self.mantissa.is_multiple_of(10) {
            self.mantissa /= 10;
            self.exponent += 1;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(whole: &str, fraction: &str) -> Decimal {
        Decimal::parse(whole, fraction).unwrap()
    }

    #[test]
    fn equal_numbers_are_the_same_however_they_are_written() {
        assert_eq!(decimal("0042", "500"), decimal("42", "5"));
        assert_eq!(decimal("1", "5").shifted(3), decimal("1500", ""));
        assert_eq!(decimal("", "5").times(60), Some(Decimal::of(30)));
        assert_eq!(decimal("0", "000").shifted(9), Decimal::of(0));
        assert_ne!(decimal("1", "5"), decimal("15", ""));
        assert_eq!(decimal("2000", "").small(), Some(2_000));
        assert_eq!(decimal("0", "5").small(), None);
    }

    #[test]
    fn a_number_without_an_end_is_none() {
        assert_eq!(Decimal::parse(&"9".repeat(25), ""), None);
        assert_eq!(decimal(&"9".repeat(24), "").times(u64::MAX), None);
    }
}
