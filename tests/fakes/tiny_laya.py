"""A checkpoint with random weights, in exactly the layout that `laya` loads: half a megabyte."""

import json
import sys
from pathlib import Path
from typing import Any

_TEXTS = (
    "Write a Python function that parses a CSV file and returns a list of dicts.",
    "choice question: What kind of help does `request` ask for?",
    "code math write translate summarize explain chat light medium heavy",
    "请用 Python 写一个快速排序函数，并解释时间复杂度。",
    '{"request": "...", "previous": ""}',
)
_SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]


def make_tiny_laya(out: Path, seed: int = 0) -> Path:
    """Write it to `out`; needs laya, torch and transformers. Its answers are noise, its code path is the real one."""
    import torch
    from laya.common import DecisionModel
    from safetensors.torch import save_file
    from transformers import AutoModel, ModernBertConfig

    torch.manual_seed(seed)
    tokenizer = _tokenizer()
    ids = {
        "pad_token_id": tokenizer.pad_token_id,
        "cls_token_id": tokenizer.cls_token_id,
        "bos_token_id": tokenizer.cls_token_id,
        "sep_token_id": tokenizer.sep_token_id,
        "eos_token_id": tokenizer.sep_token_id,
    }
    config = ModernBertConfig(
        vocab_size=(len(tokenizer) + 7) // 8 * 8,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=1,
        max_position_embeddings=8192,
        global_attn_every_n_layers=3,
        local_attention=128,
        **ids,
    )
    encoder = AutoModel.from_config(config, attn_implementation="sdpa")
    model = DecisionModel(encoder, 1, n_act=2).eval()
    weights = {name: tensor.detach().half().contiguous().clone() for name, tensor in model.state_dict().items()}
    out.mkdir(parents=True, exist_ok=True)
    save_file(weights, str(out / "model.safetensors"), metadata={"format": "pt"})
    config.save_pretrained(str(out / "encoder"))
    tokenizer.save_pretrained(str(out / "tokenizer"))
    settings = {
        "encoder": "tiny-random-modernbert",
        "head_layers": 1,
        "act_costs": {"escalate": 0.5},
        "max_len": 512,
        "head_max_len": 192,
        "amp_dtype": "bf16",
        "temperature": [1.0, 1.0, 1.0],
        "temperature_by_options": {},
    }
    (out / "rl_agent_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return out


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bare = Tokenizer(models.BPE(unk_token="[UNK]"))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        min_frequency=1,
        special_tokens=_SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bare.train_from_iterator(_TEXTS * 4, trainer)
    names = dict(zip(("unk_token", "cls_token", "sep_token", "pad_token", "mask_token"), _SPECIAL, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=bare, model_max_length=8192, **names)


if __name__ == "__main__":  # in a process of its own: torch's objects stay out of the other tests
    make_tiny_laya(Path(sys.argv[1]))
