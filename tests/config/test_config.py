"""Settings: one file, named keys, errors that say file, line, key and what was meant."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from batchctl import config
from batchctl.alert_settings import alert_rules_of
from batchctl.domain.errors import ConfigurationError
from batchctl.settings_sections import SchedulerSettings


def written(folder: Path, text: str) -> str:
    """Write a configuration file; return its path."""
    path = folder / "batchctl.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def refused(folder: Path, text: str) -> str:
    """Return what is said about a configuration that is not accepted."""
    with pytest.raises(ConfigurationError) as refused:
        config.load(written(folder, text))
    assert refused.value.exit_code == 2
    assert refused.value.next_step
    return refused.value.message


def test_without_a_file_the_database_lies_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = config.load(None)

    assert settings.database_url == "sqlite:///batchctl.db"
    assert settings.directory == tmp_path
    assert settings.file is None


def test_the_file_in_the_working_directory_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, 'database_url = "sqlite:///x.db"\n[connections.wh]\nurl = "sqlite:///wh.db"\nprocedures = "p"\n')
    monkeypatch.chdir(tmp_path)
    settings = config.load(None)

    assert settings.database_url == "sqlite:///x.db"
    assert settings.connections["wh"].procedures == "p"
    assert settings.file == tmp_path / "batchctl.toml"


def test_the_environment_names_the_file_and_wins_over_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHCTL_CONFIG", written(tmp_path, 'database_url = "sqlite:///x.db"\npoll_interval = 3\n'))
    monkeypatch.setenv("BATCHCTL_DATABASE_URL", "sqlite:///y.db")
    settings = config.load(None)

    assert settings.database_url == "sqlite:///y.db"
    assert settings.poll_interval == 3


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"none\.toml does not exist"):
        config.load(str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("text", "line", "key", "says"),
    [
        ('\ndatabse_url = "x"\n', 2, "databse_url", "Did you mean 'database_url'?"),
        ('[connections.wh]\nurl = "x"\nprocedure = "p"\n', 3, "connections.wh.procedure", "Did you mean 'procedures'?"),
        ("[connections.wh]\n", 1, "connections.wh.url", "needed"),
        ('business_time_zone = "Mars/Olympus"\n', 1, "business_time_zone", "not a time zone"),
        ('\n\npoll_interval = "soon"\n', 3, "poll_interval", "poll_interval: write a number"),
        ("poll_interval = 0\n", 1, "poll_interval", "poll_interval: write more than 0"),
        ("output_limit = 5\n", 1, "output_limit", "output_limit: write 1024 or more"),
        ("stop_grace = 7200\n", 1, "stop_grace", "stop_grace: write 3600 or less"),
        ('slots = "many"\n', 1, "slots", "slots: write a whole number"),
        ("slots = 1.5\n", 1, "slots", "slots: write a whole number"),
        ("connections = 3\n", 1, "connections", "connections: it has keys of its own: they stand below [connections]"),
        ('plugin_modules = "jobs"\n', 1, "plugin_modules", 'plugin_modules: write a list, such as ["one", "two"]'),
        ('log = { format = "xml" }\n', 1, "log.format", "log.format: write 'text' or 'json'"),
        ("[connections.wh]\nurl = 4\n", 2, "connections.wh.url", 'connections.wh.url: write a text, in quotes: "..."'),
        ('[secrets.x]\nenv = "A"\nfile = "b"\n', 1, "secrets", "exactly one of env and file"),
        ('[secrets.x]\nvalue = "A"\n', 2, "secrets.x.value", "no such setting"),
        ('directory = "/"\n', 1, "directory", "not a setting"),
        ('[web]\ntrusted_proxies = ["127.0.0.0/8"]\n', 2, "web.trusted_proxies", "'127.0.0.0/8' is no address"),
        ('[web]\ntrusted_proxies = ["proxy.example"]\n', 2, "web.trusted_proxies", "no name and no network"),
        ('[web]\nnames = ["https://a.b/"]\n', 2, "web.names", "'https://a.b/' is no name of a host"),
        ('[web]\nnames = ["a.b", "*"]\n', 2, "web.names", "write only the name"),
        ('[alerts]\nrepeat = "soon"\n', 2, "alerts.repeat", "'soon' is no length of time"),
        ('[alerts]\nforecast_interval = "-1m"\n', 2, "alerts.forecast_interval", "or 0 for never"),
        ('[alerts]\nforecast_hours = ["24:00"]\n', 2, "alerts.forecast_hours", "'24:00' is no time of day"),
        ("[alerts]\nrepaet = 5\n", 2, "alerts.repaet", "Did you mean 'repeat'?"),
        ('[alerts.channels.it]\nkind = "log"\npaht = "x"\n', 3, "alerts.channels.it.paht", "Did you mean 'path'?"),
        ('[alerts.channels.it]\npath = "x"\n', 1, "alerts.channels.it.kind", "needed"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_line(tmp_path: Path, text: str, line: int, key: str, says: str) -> None:
    message = refused(tmp_path, text)

    assert f"batchctl.toml, line {line}: " in message
    assert key in message
    assert says in message


def test_broken_toml_says_where(tmp_path: Path) -> None:
    assert "line 2" in refused(tmp_path, "poll_interval = 1\npoll_interval ==\n")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "batchctl.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        config.load(str(tmp_path / "batchctl.toml"))


def test_a_wrong_environment_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHCTL_POLL_INTERVAL", "soon")
    with pytest.raises(ConfigurationError, match="Environment variable BATCHCTL_POLL_INTERVAL"):
        config.load(written(tmp_path, ""))


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("BATCHCTL_PLUGIN_MODULES", "nope", 'write JSON, such as ["nope"]'),
        ("BATCHCTL_PLUGIN_MODULES", "our_jobs, more", 'write JSON, such as ["our_jobs", "more"]'),
        ("BATCHCTL_PLUGIN_MODULES", "", 'write JSON, such as ["our_jobs"]'),
        ("BATCHCTL_PLUGIN_MODULES", "[1]", "write a text, in quotes"),
        ("BATCHCTL_CONNECTIONS", "sqlite:///x.db", 'write JSON, such as {"warehouse"'),
        ("BATCHCTL_SECRETS", "{", 'write JSON, such as {"token"'),
        (
            "BATCHCTL_CONNECTIONS__WH",
            "x",
            "keys of its own: they stand below [connections.wh] in the file, or in a variable as JSON",
        ),
    ],
)
def test_a_variable_that_is_no_json_is_named_with_an_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, said: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigurationError) as refused:
        config.load(written(tmp_path, ""))

    assert refused.value.exit_code == 2
    assert refused.value.message.startswith(f"Environment variable {variable}: ")
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("BATCHCTL_POLL_INTERVALL", "Did you mean 'BATCHCTL_POLL_INTERVAL'?"),
        ("BATCHCTL_POLL_INTERVAL__X", "Did you mean 'BATCHCTL_POLL_INTERVAL'?"),
        ("BATCHCTL_CONECTIONS__WH__URL", "there is no such setting"),
        ("BATCHCTL_DIRECTORY", "there is no such setting"),
    ],
)
def test_a_variable_that_is_no_setting_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, meant: str
) -> None:
    monkeypatch.setenv(variable, "3")
    with pytest.raises(ConfigurationError) as refused:
        config.load(written(tmp_path, ""))

    assert refused.value.message.startswith(f"Environment variable {variable}: there is no such setting.")
    assert meant in refused.value.message
    assert str(refused.value.next_step).startswith("correct its name, or call a secret's variable BATCHCTL_SECRET_...")


def test_a_secrets_variable_is_in_no_configurations_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHCTL_SECRET_WH", "s3cret")
    monkeypatch.chdir(tmp_path)

    assert config.load(None) == config.Settings(directory=tmp_path)
    assert config.secret(config.load(written(tmp_path, '[secrets.wh]\nenv = "BATCHCTL_SECRET_WH"\n')), "wh") == "s3cret"


def test_variables_with_another_meaning_are_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BATCHCTL_COOKIE", "c")
    monkeypatch.setenv("BATCHCTL_TOKEN", "named by a secret")
    monkeypatch.setenv("BATCHCTL_CONNECTIONS__WH__URL", "sqlite:///wh.db")
    monkeypatch.setenv("BATCHCTL_CONFIG", written(tmp_path, '[secrets.token]\nenv = "BATCHCTL_TOKEN"\n'))
    settings = config.load(None)

    assert settings.connections["wh"].url == "sqlite:///wh.db"
    assert settings.secrets["token"].env == "BATCHCTL_TOKEN"


def test_an_empty_name_of_a_file_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BATCHCTL_CONFIG", "")

    assert config.load(None).file is None


def test_a_folder_or_a_dead_link_in_the_place_of_the_file_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "batchctl.toml"
    place.mkdir()
    with pytest.raises(ConfigurationError, match="is a folder, not a file"):
        config.load(None)

    place.rmdir()
    place.symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match="does not exist"):
        config.load(None)


def test_a_pipe_is_not_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ConfigurationError, match="is a device or a pipe, not a file"):
        config.load(str(tmp_path / "pipe"))


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is a folder, not a file"):
        config.load(str(tmp_path))


def test_urls_are_kept_out_of_repr(tmp_path: Path) -> None:
    text = 'database_url = "postgresql://u:hunter2@h/d"\n[connections.w]\nurl = "postgresql://u:hunter2@h/d"\n'

    assert "hunter2" not in repr(config.load(written(tmp_path, text)))


def test_secrets_come_from_the_environment_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("from file\n", encoding="utf-8")
    monkeypatch.setenv("A_TOKEN", "from env")
    sources = {"e": "env:A_TOKEN", "f": "file:token", "gone": "env:NO_SUCH", "lost": "file:no_such"}

    assert config.resolve_secret(sources, "e", tmp_path) == "from env"
    assert config.resolve_secret(sources, "f", tmp_path) == "from file"


@pytest.mark.parametrize(
    ("source", "said", "next_step"),
    [
        (
            {"wh": "env:NO_SUCH"},
            "Secret 'wh' cannot be resolved: environment variable NO_SUCH is not set.",
            "set the environment variable NO_SUCH, for the user who runs batchctl, and start it again",
        ),
        (
            {"wh": "file:no_such"},
            "Secret 'wh' cannot be resolved: file no_such cannot be read.",
            "put the secret into the file no_such, for the user who runs batchctl",
        ),
        (
            {"wh": "file:unfit"},
            "Secret 'wh' cannot be used: ",
            "correct its value: put the secret into the file unfit, for the user who runs batchctl",
        ),
        (
            {"hw": "env:NO_SUCH"},
            "Secret 'wh' is not in the configuration.",
            "correct the name, or add [secrets.wh] to batchctl.toml and restart the controllers",
        ),
    ],
)
def test_a_secret_that_cannot_be_had_is_named_with_what_to_do_and_never_shown(
    tmp_path: Path, source: dict[str, str], said: str, next_step: str
) -> None:
    (tmp_path / "unfit").write_text("hunter2\x00", encoding="utf-8")
    with pytest.raises(ConfigurationError) as missing:
        config.resolve_secret(source, "wh", tmp_path)

    assert missing.value.message.startswith(said)
    assert missing.value.next_step == next_step
    assert "hunter2" not in missing.value.in_full


SECRET_URL = "postgresql+psycopg://batch:{secret:control_db}@host/db"


def test_a_url_may_refer_to_a_secret_which_is_resolved_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config.load(
        written(tmp_path, f'database_url = "{SECRET_URL}"\n[secrets.control_db]\nenv = "CONTROL_DB"\n')
    )
    with pytest.raises(ConfigurationError, match="CONTROL_DB is not set"):
        config.database_url(settings)
    monkeypatch.setenv("CONTROL_DB", "p@ss/w:rd")

    assert config.database_url(settings) == "postgresql+psycopg://batch:p%40ss%2Fw%3Ard@host/db"
    assert settings.database_url == SECRET_URL
    assert "p@ss" not in repr(settings) + repr(settings.model_dump())


@pytest.mark.parametrize(
    ("text", "line", "key", "says"),
    [
        (f'\ndatabase_url = "{SECRET_URL}"\n[secrets.control_bd]\nenv = "E"\n', 2, "database_url", "'control_bd'?"),
        (
            '[connections.a]\nurl = "sqlite:///a"\n[connections.b]\nurl = "postgresql://u:{secret:x}@h/d"\n',
            4,
            "connections.b.url",
            (
                'there is no [secrets.x]. Add these lines to the configuration file (or file = "..." in place of env):\n'
                '    [secrets.x]\n    env = "BATCHCTL_SECRET_X"'
            ),
        ),
        ('connections.a = { url = "x://u:{secret:x}@h" }\n', 1, "connections.a.url", "there is no [secrets.x]"),
        ('[connections]\n"a".url = "x://u:{secret}@h"\n', 2, "connections.a.url", "as {secret:NAME}"),
        ('database_url = "{secret:x}"\n[secrets.x]\nenv = "E"\n', 1, "database_url", "BATCHCTL_DATABASE_URL"),
    ],
)
def test_a_wrong_reference_is_named_with_its_line(tmp_path: Path, text: str, line: int, key: str, says: str) -> None:
    message = refused(tmp_path, text)

    assert f"batchctl.toml, line {line}: {key}: " in message
    assert says in message


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://batch:p@ss/w:rd#1@server7:54399/etl",
        "postgresql+psycopg://batch:p/a@ss?w#rd@server7/etl",
        "postgresql://batch:p@ss:w@server7/etl",
        "mssql+pyodbc://batch:p@ss@server7/etl?driver=x",
        "mssql://batch:p@ss?w=1@server7/etl",
    ],
)
def test_a_password_that_is_cut_at_a_character_of_its_own_is_refused_and_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    message = refused(tmp_path, f'database_url = "{url}"\n[connections.wh]\nurl = "{url}"\n')
    monkeypatch.setenv("BATCHCTL_DATABASE_URL", url)
    in_the_environment = refused(tmp_path, "")

    first, second = message.split("\n")
    assert "batchctl.toml, line 1: database_url: percent-encode @ / : # ? in the password" in first
    assert "batchctl.toml, line 3: connections.wh.url: percent-encode" in second
    assert in_the_environment.startswith("Environment variable BATCHCTL_DATABASE_URL: percent-encode")
    assert not [
        piece
        for piece in ("p@", "@ss", "p/a", "w:rd", "server7", "etl", "batch:")
        if piece in message + in_the_environment
    ]


def test_a_wrong_reference_in_a_variable_is_named_by_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCHCTL_CONNECTIONS__WH__URL", "postgresql://u:{secret:nobody}@h/d")

    assert refused(tmp_path, "").startswith("Environment variable BATCHCTL_CONNECTIONS__WH__URL: there is no [secrets.")


def test_passwords_that_stand_in_the_file_are_known_and_those_of_the_environment_are_in_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCHCTL_DATABASE_URL", "postgresql://u:hunter2@h/d")
    text = (
        '[connections.a]\nurl = "postgresql://u:p@h/d"\n[connections.b]\nurl = "postgresql://u:{secret:s}@h/d"\n'
        '[connections.c]\nurl = "mssql+pyodbc:///?odbc_connect=Pwd=p"\n[secrets.s]\nenv = "E"\n'
    )

    assert config.literal_passwords(config.load(written(tmp_path, text))) == {"connections.a", "connections.c"}


def test_the_scheduler_is_on_and_takes_five_minutes_unless_told_otherwise(tmp_path: Path) -> None:
    assert config.load(written(tmp_path, "")).scheduler == SchedulerSettings(enabled=True, grace=300.0)
    told = config.load(written(tmp_path, "[scheduler]\nenabled = false\ngrace = 60\n")).scheduler
    assert (told.enabled, told.grace) == (False, 60.0)


def test_what_the_scheduler_does_not_know_is_named_with_what_was_meant(tmp_path: Path) -> None:
    assert "scheduler.enabeld" in (said := refused(tmp_path, "[scheduler]\nenabeld = false\n"))
    assert "enabled" in said
    assert "line 2" in said
    # What is due is met a moment later; with less grace than that everything would be missed.
    for grace in ("-1", "0", "9.9"):
        assert "scheduler.grace" in refused(tmp_path, f"[scheduler]\ngrace = {grace}\n")


def test_forecasts_are_made_every_ten_minutes_or_never(tmp_path: Path) -> None:
    usual = alert_rules_of(config.load(written(tmp_path, "")))
    assert (usual.forecast_interval, usual.forecast_hours) == (timedelta(minutes=10), [18 * 60, 0, 3 * 60])
    told = '[alerts]\nforecast_interval = "0"\nforecast_hours = []\n'
    rules = alert_rules_of(config.load(written(tmp_path, told)))
    assert (rules.forecast_interval, rules.forecast_hours) == (timedelta(), [])


def test_the_scheduler_of_one_node_is_switched_off_by_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCHCTL_SCHEDULER__ENABLED", "false")

    assert not config.load(written(tmp_path, "[scheduler]\ngrace = 60\n")).scheduler.enabled


def test_what_is_wrong_with_several_settings_names_the_file_and_no_empty_key(tmp_path: Path) -> None:
    said = refused(tmp_path, "orphan_timeout = 5\nheartbeat_interval = 2\n")

    assert (
        said
        == f"{tmp_path / 'batchctl.toml'}: orphan_timeout (5 s) must be at least four times heartbeat_interval (2 s)"
    )
