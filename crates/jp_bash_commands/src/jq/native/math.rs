//! Numbers: the functions of the C library that jq hands through.

use super::{Entry, one, three};
use crate::jq::fail::{self, Result};
use crate::jq::ops;
use crate::jq::value::Value;
use crate::jq::world::World;

macro_rules! unary {
    ($name:literal, $function:expr) => {
        ($name, 0, |world, args| unary(world, args, $function))
    };
}

macro_rules! binary {
    ($name:literal, $function:expr) => {
        ($name, 2, |world, args| binary(world, args, $function))
    };
}

pub(super) const TABLE: &[Entry] = &[
    unary!("floor", f64::floor),
    unary!("ceil", f64::ceil),
    unary!("round", f64::round),
    unary!("trunc", f64::trunc),
    unary!("rint", f64::round_ties_even),
    unary!("nearbyint", f64::round_ties_even),
    unary!("sqrt", f64::sqrt),
    unary!("cbrt", f64::cbrt),
    unary!("fabs", f64::abs),
    unary!("exp", f64::exp),
    unary!("exp2", f64::exp2),
    unary!("exp10", |x| 10_f64.powf(x)),
    unary!("pow10", |x| 10_f64.powf(x)),
    unary!("expm1", f64::exp_m1),
    unary!("log", f64::ln),
    unary!("log2", f64::log2),
    unary!("log10", f64::log10),
    unary!("log1p", f64::ln_1p),
    unary!("sin", f64::sin),
    unary!("cos", f64::cos),
    unary!("tan", f64::tan),
    unary!("asin", f64::asin),
    unary!("acos", f64::acos),
    unary!("atan", f64::atan),
    unary!("sinh", f64::sinh),
    unary!("cosh", f64::cosh),
    unary!("tanh", f64::tanh),
    unary!("asinh", f64::asinh),
    unary!("acosh", f64::acosh),
    unary!("atanh", f64::atanh),
    unary!("logb", |x| if x == 0.0 {
        f64::NEG_INFINITY
    } else {
        f64::from(split(x).1 - 1)
    }),
    unary!("significand", |x| split(x).0 * 2.0),
    unary!("gamma", |x| lgamma(x).0),
    unary!("lgamma", |x| lgamma(x).0),
    unary!("tgamma", tgamma),
    binary!("pow", f64::powf),
    binary!("atan2", f64::atan2),
    binary!("fmod", |x, y| x % y),
    binary!("hypot", f64::hypot),
    binary!("copysign", f64::copysign),
    binary!("fmin", f64::min),
    binary!("fmax", f64::max),
    binary!("fdim", |x, y| if x > y { x - y } else { 0.0 }),
    binary!("drem", remainder),
    binary!("remainder", remainder),
    binary!("nextafter", next_after),
    binary!("nexttoward", next_after),
    binary!("ldexp", scale),
    binary!("scalb", scale),
    binary!("scalbln", scale),
    ("fma", 3, |world, args| {
        let last = args.last().map(Value::number);
        let (_, x, y) = three(args);
        match (x.number(), y.number(), last.flatten()) {
            (Some(x), Some(y), Some(z)) => Ok(Value::Number(x.mul_add(y, z))),
            _ => Err(fail::about(&mut world.fuel, &x, "number required")),
        }
    }),
    ("frexp", 0, |world, args| {
        let x = number(world, &one(args))?;
        let (mantissa, exponent) = split(x);
        Ok(Value::array(vec![
            Value::Number(mantissa),
            Value::Number(f64::from(exponent)),
        ]))
    }),
    ("modf", 0, |world, args| {
        let x = number(world, &one(args))?;
        let part = if x.is_infinite() {
            0.0_f64.copysign(x)
        } else {
            x.fract()
        };
        Ok(Value::array(vec![
            Value::Number(part),
            Value::Number(x.trunc()),
        ]))
    }),
    ("lgamma_r", 0, |world, args| {
        let x = number(world, &one(args))?;
        let (value, sign) = lgamma(x);
        Ok(Value::array(vec![
            Value::Number(value),
            Value::Number(sign),
        ]))
    }),
    ("abs", 0, |world, args| {
        let value = one(args);
        match value.number() {
            Some(number) if number < 0.0 => Ok(Value::Number(-number)),
            Some(_) => Ok(value),
            None => Err(fail::about(
                &mut world.fuel,
                &value,
                "has no absolute value",
            )),
        }
    }),
    ("infinite", 0, |_, _| Ok(Value::Number(f64::INFINITY))),
    ("nan", 0, |_, _| Ok(Value::Number(f64::NAN))),
    ("isinfinite", 0, |world, args| {
        Ok(Value::Bool(number(world, &one(args))?.is_infinite()))
    }),
    ("isnan", 0, |world, args| {
        Ok(Value::Bool(number(world, &one(args))?.is_nan()))
    }),
    ("isnormal", 0, |world, args| {
        Ok(Value::Bool(number(world, &one(args))?.is_normal()))
    }),
];

fn number(world: &mut World<'_>, value: &Value) -> Result<f64> {
    match value.number() {
        Some(number) => Ok(number),
        None => Err(fail::about(&mut world.fuel, value, "number required")),
    }
}

fn unary(world: &mut World<'_>, args: &mut [Value], function: fn(f64) -> f64) -> Result<Value> {
    Ok(Value::Number(function(number(world, &one(args))?)))
}

fn binary(
    world: &mut World<'_>,
    args: &mut [Value],
    function: fn(f64, f64) -> f64,
) -> Result<Value> {
    let (_, x, y) = three(args);
    let (x, y) = (number(world, &x)?, number(world, &y)?);
    Ok(Value::Number(function(x, y)))
}

/// Splits into a mantissa of at least a half and below one, and a power of two.
fn split(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (x, shift) = if x.is_normal() {
        (x, 0)
    } else {
        (x * 2_f64.powi(64), -64)
    };
    let bits = x.to_bits();
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0) - 1022;
    let mantissa = f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52));
    (mantissa, exponent + shift)
}

fn scale(x: f64, power: f64) -> f64 {
    let power = i32::try_from(ops::integer(power.clamp(-5000.0, 5000.0))).unwrap_or(0);
    // Two steps, so that the power itself does not overflow before the product.
    let half = power / 2;
    x * 2_f64.powi(half) * 2_f64.powi(power - half)
}

/// The remainder of the quotient rounded to nearest, ties to even.
fn remainder(x: f64, y: f64) -> f64 {
    if y == 0.0 || x.is_infinite() || x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if y.is_infinite() {
        return x;
    }
    let rest = x % (2.0 * y);
    let quotient = (rest / y).round_ties_even();
    rest - quotient * y
}

fn next_after(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x < y {
        x.next_up()
    } else if x > y {
        x.next_down()
    } else {
        y
    }
}

/// Lanczos' coefficients for g = 7.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// The logarithm of |Γ(x)|, and the sign of Γ(x).
fn lgamma(x: f64) -> (f64, f64) {
    if x <= 0.0 && x.fract() == 0.0 {
        return (f64::INFINITY, 1.0);
    }
    if x < 0.5 {
        let sine = (std::f64::consts::PI * x).sin();
        let value = (std::f64::consts::PI / sine.abs()).ln() - lgamma_positive(1.0 - x);
        return (value, sine.signum());
    }
    (lgamma_positive(x), 1.0)
}

fn lgamma_positive(x: f64) -> f64 {
    if x.is_infinite() {
        return f64::INFINITY;
    }
    let x = x - 1.0;
    let mut sum = 0.0;
    for (coefficient, at) in LANCZOS.iter().zip(0_u8..) {
        sum += if at == 0 {
            *coefficient
        } else {
            coefficient / (x + f64::from(at))
        };
    }
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

fn tgamma(x: f64) -> f64 {
    if x.fract() == 0.0 && x > 0.0 && x < 171.0 {
        let mut product = 1.0;
        let mut factor = 2.0;
        while factor < x {
            product *= factor;
            factor += 1.0;
        }
        return product;
    }
    let (value, sign) = lgamma(x);
    if x <= 0.0 && x.fract() == 0.0 {
        f64::NAN
    } else {
        sign * value.exp()
    }
}
