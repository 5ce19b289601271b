"""LoRA adapters on one base: each is read once, and one of them, or none, is in force during a forward pass."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from langgraph_evidence.errors import MissingExtra, ResourceError

BASE = ""
"""Stands where the name of an adapter could stand, for the network without any."""

_FILES = ("adapter_config.json", "adapter_model.safetensors")


class Adapters:
    """The adapters of one network; they are known by their folders, so that two callers share what they both name.

    Args:
        model: The network, whose layers take the adapters in.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._peft: Any = None
        self._names: dict[str, str] = {}
        self._active = BASE

    def use(self, folder: str) -> None:
        """Puts an adapter in force, which is read when it is first asked for, or none (`BASE`).

        Raises:
            ResourceError: There is no such adapter, or it does not fit the network.
            MissingExtra: peft is not installed.
        """
        if folder == self._active:
            return
        if folder != BASE and folder not in self._names:
            self._names[folder] = self._read(Path(folder), f"adapter{len(self._names)}")
        if folder == BASE:
            self._peft.base_model.disable_adapter_layers()
        else:
            self._peft.base_model.enable_adapter_layers()
            self._peft.set_adapter(self._names[folder], inference_mode=True)
        self._active = folder

    def _read(self, folder: Path, name: str) -> str:
        missing = [file for file in _FILES if not (folder / file).is_file()]
        if missing:
            raise ResourceError(f"The adapter {folder} lacks {', '.join(missing)}; give a folder that peft saved.")
        try:
            from peft import PeftConfig, PeftModel
        except ImportError as error:
            raise MissingExtra("An adapter needs peft: pip install 'langgraph-evidence[local]'") from error
        try:
            kind = PeftConfig.from_pretrained(str(folder)).peft_type
            if kind != "LORA":
                raise ResourceError(f"it is {kind}, and LORA is what is taken")
            with warnings.catch_warnings():
                # peft remarks on keys that are missing or surplus; here that is an error.
                warnings.simplefilter("error", UserWarning)
                if self._peft is None:
                    self._peft = PeftModel.from_pretrained(self._model, str(folder), adapter_name=name).eval()
                else:
                    self._peft.load_adapter(str(folder), adapter_name=name)
        except Exception as error:
            raise ResourceError(f"{folder} cannot be read as an adapter of this model ({error}).") from error
        return name
