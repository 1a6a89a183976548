"""Lines of the short texts that lie nearby, as a small model is told them."""

import os
from pathlib import Path

from andy_cli.toolbox.nearby import MAX_BYTES, MAX_LINES, find_nearby_names, read_nearby_lines


def read(folder: Path) -> dict[str, list[str]]:
    found = read_nearby_lines(folder, find_nearby_names(folder))
    return {name: [*lines] for name, lines in found.items()}


def test_the_lines_of_each_short_text_are_read(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "notes.txt").write_text("Grüße\n\n---\n  two words \n", encoding="utf-8")
    (tmp_path / "sub" / "table.csv").write_text("rent,900\n", encoding="utf-8")
    (tmp_path / "sub" / "wide.txt").write_text("code 7714\n", encoding="utf-16")
    (tmp_path / "sub" / "windows.txt").write_text("Gru\u00df\n", encoding="cp1252")
    assert read(tmp_path) == {
        "notes.txt": ["Grüße", "", "---", "two words"],
        "sub/table.csv": ["rent,900"],
        "sub/wide.txt": ["code 7714"],
        "sub/windows.txt": ["Gruß"],
    }


def test_nothing_is_read_of_secrets_links_long_texts_and_what_is_no_text(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("not yours", encoding="utf-8")
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "id_rsa").write_text("key", encoding="utf-8")
    (folder / "credentials.json").write_text("{1}", encoding="utf-8")
    (folder / "link.txt").symlink_to(outside)
    (folder / "long.txt").write_text("word\n" * MAX_BYTES, encoding="utf-8")
    (folder / "data.bin").write_bytes(b"a\0b")
    (folder / "empty.txt").touch()
    assert read(folder) == {}


def test_a_name_that_is_no_utf_8_is_told_with_a_sign_for_what_cannot_be_read(
    tmp_path: Path,
) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("opens at 9")
    assert find_nearby_names(tmp_path) == ("caf\ufffd.txt",)
    assert read(tmp_path) == {}


def test_of_many_texts_the_first_are_read(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("word\n" * (MAX_LINES // 2), encoding="utf-8")
    assert [*read(tmp_path)] == ["0.txt", "1.txt"]
