"""Settings of the connection to an adapter, from the configuration of pytest."""

import pytest

from pytest_corpus.adapter.opening.remote import Connection
from pytest_corpus.adapter.opening.settings import ConnectionSettings, SettingError, setting, table_in
from pytest_corpus.spec.transports import CONNECTION


def read(config: pytest.Config, usual_timeout_s: float) -> tuple[Connection, float]:
    """Read the connection to an adapter, and the time limit of calls. Options win; headers of both are used.

    The table [tool.pytest-corpus] is read from the pyproject.toml next to the ini file or in pytest's root folder.

    Raises:
        pytest.UsageError: a setting has an invalid value; the value of a header is not shown.
    """
    ini = {key: config.getini(setting(key)) for key in CONNECTION}
    given = {key: value for key in CONNECTION if (value := config.getoption(setting(key), None)) is not None}
    try:
        table = table_in(config.inipath.parent if config.inipath else config.rootpath)
        settings = ConnectionSettings(config.invocation_params.dir, ini, table)
        if "header" in given:
            given["header"] = [*settings.headers, *given["header"]]
        settings = ConnectionSettings(config.invocation_params.dir, {**ini, **given}, table, options=given)
        return settings.connection(), settings.call_timeout_s(usual_timeout_s)
    except SettingError as error:
        raise pytest.UsageError(str(error)) from None
