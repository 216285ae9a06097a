"""Arithmetic over columns and conditions on rows, without running anybody's code.

A column is written by its name, or in brackets where it has other signs than letters, digits and
underscores: `[unit price] * quantity`. Text goes into quotes. A formula has + - * / ** and
parentheses, abs, round, min, max, sqrt and log; a condition compares with == != < <= > >= and joins
with and, or, not; `col in ("a", "b")` and `missing(col)` work too.
"""

import ast
import operator
import re
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow

from tables import TableError, is_missing, number

LENGTH_LIMIT = 1_000
EXPONENT_LIMIT = 100

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}
_COMPARED = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS = {
    "abs": abs,
    "round": lambda value, places=Decimal(0): round(value, int(places)),
    "min": min,
    "max": max,
    "sqrt": lambda value: value.sqrt(),
    "log": lambda value: value.ln(),
    "log10": lambda value: value.log10(),
}


class _Missing(Exception):
    """A cell that is needed has no value."""


class Expression:
    """A formula or condition over the columns of one table.

    With `skip_text` a cell that is text where a number is needed counts as missing.
    """

    def __init__(self, text, table, skip_text=False):
        self.skip_text = skip_text
        if len(text) > LENGTH_LIMIT:
            raise TableError(f"The expression has more than {LENGTH_LIMIT} characters.")
        self.text = text
        self.places = {}
        # A name in brackets becomes one that the parser takes; text in quotes stays as it is.
        made = re.sub(
            r"(\"[^\"]*\"|'[^']*')|\[([^\]]+)\]",
            lambda found: found.group(1) or self._name(found.group(2), table),
            text,
        )
        try:
            self.tree = ast.parse(made.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError) as error:
            raise TableError(f"The expression {text!r} can't be read: {error}.") from error
        words = {"missing", "true", "false", *_FUNCTIONS}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node.id not in self.places and node.id not in words:
                self.places[node.id] = table.index(node.id)

    def _name(self, column, table):
        name = f"bracketed_{len(self.places)}_"
        self.places[name] = table.index(column)
        return name

    def value(self, row):
        """The value for a row: a Decimal, a text or a truth; None where a needed cell is missing."""
        try:
            return self._of(self.tree, row)
        except _Missing:
            return None
        except (DivisionByZero, InvalidOperation, Overflow, ZeroDivisionError):
            return None
        except TypeError as error:
            raise TableError(f"{self.text!r} mixes text and numbers: {error}.") from error

    def _of(self, node, row):
        if isinstance(node, ast.Constant):
            return self._constant(node.value)
        if isinstance(node, ast.Name):
            return self._cell(node.id, row)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node, row)
        if isinstance(node, ast.UnaryOp):
            value = self._of(node.operand, row)
            if isinstance(node.op, ast.Not):
                return not value
            return -self._number(node.operand, row) if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BoolOp):
            values = (self._of(part, row) for part in node.values)
            return all(values) if isinstance(node.op, ast.And) else any(values)
        if isinstance(node, ast.Compare):
            return self._comparison(node, row)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self._call(node, row)
        raise TableError(f"{self.text!r} holds something that is no formula and no condition.")

    def _constant(self, value):
        if isinstance(value, bool) or isinstance(value, str):
            return value
        if isinstance(value, (int, float)):
            return Decimal(str(value))
        raise TableError(f"{self.text!r} holds a value that is neither text nor a number.")

    def _cell(self, name, row):
        if name in ("true", "false"):
            return name == "true"
        if name not in self.places:
            raise TableError(f"{name!r} in {self.text!r} is a function: write it with parentheses.")
        cell = row[self.places[name]]
        if is_missing(cell):
            raise _Missing
        value = number(cell)
        return cell.strip() if value is None else value

    def _number(self, node, row):
        value = self._of(node, row)
        if isinstance(value, Decimal):
            return value
        if self.skip_text:
            raise _Missing
        raise TableError(
            f"{value!r} in {self.text!r} is no number. Clean the column first, or leave such cells out"
            " with --skip-text."
        )

    def _arithmetic(self, node, row):
        left, right = self._number(node.left, row), self._number(node.right, row)
        if not isinstance(node.op, (ast.Pow, *_OPERATORS)):
            raise TableError(f"{self.text!r} reckons by a sign that is not known.")
        if isinstance(node.op, ast.Pow):
            if abs(right) > EXPONENT_LIMIT:
                raise TableError(f"{self.text!r}: exponents go up to {EXPONENT_LIMIT}.")
            return left**right
        return _OPERATORS[type(node.op)](left, right)

    def _comparison(self, node, row):
        left = self._of(node.left, row)
        for sign, right_node in zip(node.ops, node.comparators):
            if isinstance(sign, (ast.In, ast.NotIn)):
                if not isinstance(right_node, (ast.Tuple, ast.List)):
                    raise TableError(f"{self.text!r}: after `in` comes a list in parentheses.")
                right = [self._of(part, row) for part in right_node.elts]
                fits = (left in right) == isinstance(sign, ast.In)
            elif type(sign) in _COMPARED:
                right = self._of(right_node, row)
                fits = _COMPARED[type(sign)](left, right)
            else:
                raise TableError(f"{self.text!r} compares by a sign that is not known.")
            if not fits:
                return False
            left = right
        return True

    def _call(self, node, row):
        name = node.func.id
        if name == "missing":
            named = node.args[0] if len(node.args) == 1 else None
            if not isinstance(named, ast.Name) or named.id not in self.places:
                raise TableError(f"{self.text!r}: missing() takes one column.")
            return is_missing(row[self.places[named.id]])
        if name not in _FUNCTIONS:
            raise TableError(f"{self.text!r}: there is no function {name!r}.")
        return _FUNCTIONS[name](*[self._number(part, row) for part in node.args])
