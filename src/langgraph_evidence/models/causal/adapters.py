"""LoRA adapters on one base: each is read once, and one of them, or none, is in force during a forward pass."""

from __future__ import annotations

import warnings
from itertools import count
from pathlib import Path
from typing import Any

from langgraph_evidence.errors import MissingExtra, ResourceError
from langgraph_evidence.models.base import read_tensors

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
        self._numbers = count()

    def use(self, folder: str) -> None:
        """Puts an adapter in force, which is read when it is first asked for, or none (`BASE`).

        Raises:
            ResourceError: There is no such adapter, or it does not fit the network.
            MissingExtra: peft is not installed.
        """
        if folder == self._active:
            return
        if self._peft is not None:
            self._peft.base_model.disable_adapter_layers()
        self._active = BASE
        if folder != BASE:
            if folder not in self._names:
                self._names[folder] = self._read(Path(folder), f"adapter{next(self._numbers)}")
            self._peft.base_model.enable_adapter_layers()
            self._peft.set_adapter(self._names[folder], inference_mode=True)
            self._active = folder

    def _read(self, folder: Path, name: str) -> str:
        missing = [file for file in _FILES if not (folder / file).is_file()]
        if missing:
            raise ResourceError(f"The adapter {folder} lacks {', '.join(missing)}; give a folder that peft saved.")
        try:
            self._lay(folder, name)
        except ImportError as error:
            raise MissingExtra("An adapter needs peft: pip install 'langgraph-evidence[local]'") from error
        except Exception as error:
            if self._peft is not None:
                self._peft.base_model.disable_adapter_layers()
            raise ResourceError(f"{folder} cannot be read as an adapter of this model ({error}).") from error
        return name

    def _lay(self, folder: Path, name: str) -> None:
        from peft import PeftConfig, PeftModel, set_peft_model_state_dict

        config = PeftConfig.from_pretrained(str(folder))
        if config.peft_type != "LORA":
            raise ResourceError(f"it is {config.peft_type}, and LORA is what is taken")
        config.inference_mode = True
        # Read by ourselves: peft would take a pickled file where there is no other.
        weights, _ = read_tensors(folder / _FILES[1])
        with warnings.catch_warnings():
            # peft asks transformers for something by its old name, which is nothing to tell a user.
            warnings.simplefilter("ignore", FutureWarning)
            if self._peft is None:
                self._peft = PeftModel(self._model, config, adapter_name=name)
            else:
                self._peft.add_adapter(name, config)
        self._peft.eval()
        found = set_peft_model_state_dict(self._peft, weights, adapter_name=name)
        lacking = [key for key in found.missing_keys if f".{name}." in key]
        if lacking or found.unexpected_keys:
            raise ResourceError(f"its layers are others: {', '.join([*lacking, *found.unexpected_keys][:3])}")
