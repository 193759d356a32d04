"""Each setting has a name and a sentence for the Settings page, in both languages."""

import pytest
from PySide6.QtWidgets import QApplication

from layadesk.settings.definitions import ALL_SETTINGS, Setting
from layadesk.ui.language import CHINESE, ENGLISH, Language
from layadesk.ui.texts.setting_texts import group_name, setting_description, setting_name


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
@pytest.mark.parametrize("setting", ALL_SETTINGS, ids=lambda one: one.key)
def test_a_setting_says_what_it_is(qapp: QApplication, setting: Setting[str], language: str) -> None:
    shown = Language(qapp)
    shown.use(language)
    texts = (setting_name(setting.key), setting_description(setting.key), group_name(setting.key.split(".")[0]))
    shown.use(ENGLISH)
    assert setting.key != texts[0], f"ui/texts/setting_texts.py lacks {setting.key}"
    assert all(texts)
