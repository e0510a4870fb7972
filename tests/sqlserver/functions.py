"""The functions that SQL Server 2017 has by itself, and how many values those take that newer servers give more."""

from __future__ import annotations

from collections.abc import Iterator

from tests.sqlserver.parser import Tree
from tests.sqlserver.trees import name_of, of_kind


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AGGREGATES = _words("avg checksum_agg count count_big max min stdev stdevp string_agg sum var varp")
ORDERED = _words("cume_dist dense_rank first_value lag last_value lead ntile percent_rank rank row_number")
"""Functions of rows in an order."""
OTHERS = _words(
    """
    abs acos ascii asin atan atn2 binary_checksum ceiling char charindex checksum choose col_length col_name
    columnproperty columns_updated compress concat concat_ws connectionproperty context_info cos cot
    current_request_id current_transaction_id cursor_status database_principal_id databasepropertyex datalength
    dateadd datediff datediff_big datefromparts datename datepart datetime2fromparts datetimefromparts
    datetimeoffsetfromparts day db_id db_name decompress degrees difference eomonth error_line error_message
    error_number error_procedure error_severity error_state exp file_id file_idex file_name filegroup_id
    filegroup_name fileproperty floor format formatmessage fulltextserviceproperty
    get_filestream_transaction_context getansinull getdate getutcdate grouping grouping_id has_dbaccess
    has_perms_by_name hashbytes host_id host_name ident_current ident_incr ident_seed identity index_col
    indexkey_property indexproperty is_member is_rolemember is_srvrolemember isdate isjson isnull isnumeric
    json_modify json_query json_value len log log10 lower ltrim min_active_rowversion month nchar newid
    newsequentialid object_definition object_id object_name object_schema_name objectproperty objectpropertyex
    openxml original_db_name original_login parsename patindex percentile_cont percentile_disc permissions pi
    power pwdcompare pwdencrypt quotename radians rand replace replicate reverse round rowcount_big rtrim
    schema_id schema_name scope_identity serverproperty session_context sessionproperty sign sin
    smalldatetimefromparts soundex space sql_variant_property sqrt square stats_date str string_escape stuff
    substring suser_id suser_name suser_sid suser_sname switchoffset sysdatetime sysdatetimeoffset
    sysutcdatetime tan timefromparts todatetimeoffset translate trigger_nestlevel trim type_id type_name
    typeproperty unicode upper user_id user_name xact_state year
    """
)
MOST = {"ltrim": 1, "rtrim": 1, "string_split": 2}
"""How many values those take that newer servers give more."""
LATER = frozenset({"generate_series"})
"""Functions of newer servers that return tables."""
TEXTS = {"char": "varchar", "nchar": "nvarchar"}
"""The functions that make a character of its number, and the kind of text that it is."""
Text = tuple[str, int]
"""The kind of a text and its length."""


def misused(tree: Tree) -> Iterator[tuple[int, str, Tree]]:
    """Yield calls of what SQL Server 2017 does not have: functions 195, of tables 208; more values 174, of tables 8144.

    9828: characters and what they are translated to, which the server wants of one type and one length.
    """
    for call in of_kind(tree, "FunctionCall"):
        name = name_of(call["FunctionName"])
        if "CallTarget" not in call and name not in AGGREGATES | ORDERED | OTHERS:
            yield 195, f"SQL Server 2017 has no function {name}", call
        elif len(call.get("Parameters", [])) > MOST.get(name, 1000):
            yield 174, f"{name} takes {MOST[name]} value", call
        elif name == "translate":
            yield from _translated(call)
    for call in of_kind(tree, "GlobalFunctionTableReference"):
        if len(call["Parameters"]) > MOST.get(name_of(call["Name"]), 1000):
            yield 8144, f"{name_of(call['Name'])} has too many values", call
    for call in of_kind(tree, "SchemaObjectFunctionTableReference"):
        if name_of(call["SchemaObject"]) in LATER:
            yield 208, f"SQL Server 2017 has no {name_of(call['SchemaObject'])}", call


def _translated(call: Tree) -> Iterator[tuple[int, str, Tree]]:
    sought, put = (_text(one) for one in call["Parameters"][1:])
    if sought and put and sought != put:
        yield 9828, f"TRANSLATE of {sought[0]}({sought[1]}) to {put[0]}({put[1]})", call


def _text(expression: Tree) -> Text | None:
    """Return of which kind a text is that is known from the statement alone, and how long."""
    if expression["is"] == "StringLiteral":
        return ("nvarchar" if expression["IsNational"] else "varchar", len(expression["Value"]))
    if expression["is"] == "BinaryExpression" and expression["BinaryExpressionType"] == "Add":
        return _together([expression["FirstExpression"], expression["SecondExpression"]])
    if expression["is"] != "FunctionCall":
        return None
    name, given = name_of(expression["FunctionName"]), expression["Parameters"]
    if name in TEXTS:
        return (TEXTS[name], 1)
    if name == "replicate" and given[1]["is"] == "IntegerLiteral" and (repeated := _text(given[0])):
        return (repeated[0], repeated[1] * int(given[1]["Value"]))
    return _together(given) if name == "concat" else None


def _together(expressions: list[Tree]) -> Text | None:
    texts = [text for one in expressions if (text := _text(one))]
    # What is nvarchar has the last word.
    return (
        (min(kind for kind, _ in texts), sum(length for _, length in texts)) if len(texts) == len(expressions) else None
    )
