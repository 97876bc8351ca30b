//! `tojson` as transformers has it: Python's json.dumps(value, ensure_ascii=False).
//!
//! minijinja's own filter escapes for HTML and knows no ensure_ascii. This one is serde_json's
//! serializer with Python's separators, indentation and floats. Begin with tojson().
use minijinja::value::{Kwargs, Value};
use minijinja::{Error, ErrorKind};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{Result, Write};

/// Spaces after commas and colons, or one element a line with `indent`.
struct Python {
    indent: Option<usize>,
    depth: usize,
    has_items: bool,
}

impl Python {
    fn begin_item<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        match (self.indent, first) {
            (None, true) => Ok(()),
            (None, false) => out.write_all(b", "),
            (Some(_), _) => {
                out.write_all(if first { b"" } else { b"," })?;
                self.new_line(out)
            }
        }
    }

    fn new_line<W: ?Sized + Write>(&self, out: &mut W) -> Result<()> {
        write!(out, "\n{:1$}", "", self.indent.unwrap_or(0) * self.depth)
    }

    fn open<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> Result<()> {
        self.depth += 1;
        self.has_items = false;
        out.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, out: &mut W, bracket: &[u8]) -> Result<()> {
        self.depth -= 1;
        if self.has_items && self.indent.is_some() {
            self.new_line(out)?;
        }
        self.has_items = true;
        out.write_all(bracket)
    }
}

impl Formatter for Python {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.open(out, b"[")
    }
    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.close(out, b"]")
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        self.begin_item(out, first)
    }
    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> Result<()> {
        self.has_items = true;
        Ok(())
    }
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.open(out, b"{")
    }
    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        self.close(out, b"}")
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> Result<()> {
        self.begin_item(out, first)
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> Result<()> {
        out.write_all(b": ")
    }
    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> Result<()> {
        self.has_items = true;
        Ok(())
    }
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> Result<()> {
        let exponent = value.abs();
        if value != 0.0 && !(1e-4..1e16).contains(&exponent) {
            let text = format!("{value:e}");
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            let power: i32 = power.parse().unwrap_or(0);
            let sign = if power < 0 { '-' } else { '+' };
            return write!(out, "{digits}e{sign}{:02}", power.abs());
        }
        write!(out, "{value:?}")
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

pub fn tojson(value: &Value, kwargs: Kwargs) -> std::result::Result<Value, Error> {
    if kwargs.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false) {
        return Err(invalid("ensure_ascii=true is not needed by the benchmark"));
    }
    let indent = kwargs.get::<Option<usize>>("indent")?;
    kwargs.assert_all_used()?;
    let mut out = Vec::with_capacity(256);
    let python = Python {
        indent,
        depth: 0,
        has_items: false,
    };
    value
        .serialize(&mut Serializer::with_formatter(&mut out, python))
        .map_err(|e| invalid(e.to_string()))?;
    String::from_utf8(out)
        .map(Value::from)
        .map_err(|e| invalid(e.to_string()))
}
