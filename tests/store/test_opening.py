"""Opening a control database where there is no place for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchctl.domain.errors import DatabaseUnusable
from batchctl.store import engine


@pytest.mark.parametrize("may_create", [True, False])
def test_a_folder_that_does_not_exist_is_named_and_not_made(tmp_path: Path, may_create: bool) -> None:
    with pytest.raises(DatabaseUnusable) as refused:
        engine.open_engine("sqlite:///nowhere/batchctl.db", tmp_path, may_create=may_create)

    assert f"The folder {tmp_path / 'nowhere'} " in refused.value.message
    assert "does not exist" in refused.value.message
    assert str(refused.value.next_step).startswith("create the folder")
    assert list(tmp_path.iterdir()) == []
