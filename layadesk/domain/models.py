"""A model is four things, never one bag: a catalogue entry, one file of it, a file on disk, a model in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from layadesk.domain.inference import LoadParams, MemoryUse
from layadesk.domain.memory_fit.load_record import LoadMeasure
from layadesk.domain.moe_experts import MoeShape
from layadesk.domain.sampling_defaults import SamplingDefaults
from layadesk.domain.strengths import Strengths


class CardKind(StrEnum):
    """What a catalogue entry is for."""

    EXPERT = "expert"
    ROUTER = "router"  # a Laya checkpoint: a directory that the setting `laya:DIRECTORY` takes


CHECKPOINT = "checkpoint"  # the quantization of a router, which comes in one form only


@dataclass(frozen=True, slots=True)
class FilePart:
    """One file at the source. Unknown sizes and sums are None and are looked up at download."""

    path: str
    size_bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One quantization of a card: a GGUF, all shards of a split one, or the files of a checkpoint.

    `source` and `revision` are those of the card unless this file lies elsewhere. `rounded_bytes` is what a page
    shows, to a tenth of a GiB or MiB: good for a first price, never compared with a download.
    """

    quantization: str
    parts: tuple[FilePart, ...]
    source: str
    revision: str | None = None
    rounded_bytes: int | None = None

    @property
    def size_bytes(self) -> int | None:
        """Of all parts; None where one is unknown."""
        sizes = [part.size_bytes for part in self.parts]
        known = [size for size in sizes if size is not None]
        return sum(known) if known and len(known) == len(sizes) else None

    @property
    def is_downloadable(self) -> bool:
        """Whether it lies on a hub; the small models that come with the set-up do not."""
        return self.source.startswith("huggingface:")

    @property
    def path(self) -> str:
        """Of the first part, which is the one that is opened."""
        return self.parts[0].path


@dataclass(frozen=True, slots=True)
class ThinkingFacts:
    """How a model's chat template lets it think; `switch` None: it always thinks, or never.

    `by_default` is what happens when nobody asks.
    """

    switch: str | None = None
    by_default: bool = False
    efforts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A catalogue entry of `models.json`. `note` says in English what it is good for, or its limits.

    `gguf` has numbers of the file's header under GGUF's own keys; empty where nobody has read them. `strengths` and
    `thinking` None: not stated. `sampling_thinking` is for answers that begin with thinking. `modelscope` is
    `repo@revision` where ModelScope has the same files. `needs_consent`: the licence has conditions that the user must
    have seen; `license_url` is where.
    """

    model_id: str
    name: str
    source: str
    license: str
    languages: tuple[str, ...]
    note: str
    files: tuple[ModelFile, ...] = field(default_factory=tuple)
    revision: str | None = None
    sampling: SamplingDefaults = field(default_factory=SamplingDefaults)
    gguf: Mapping[str, int | bool | str | tuple[int, ...]] = field(default_factory=dict)
    kind: CardKind = CardKind.EXPERT
    license_url: str | None = None
    needs_consent: bool = False
    strengths: Strengths | None = None
    thinking: ThinkingFacts | None = None
    sampling_thinking: SamplingDefaults = field(default_factory=SamplingDefaults)
    modelscope: str | None = None

    def file(self, quantization: str) -> ModelFile | None:
        """The file of that quantization."""
        return next((file for file in self.files if file.quantization == quantization), None)


class NotChatKind(StrEnum):
    """What a whole GGUF is that is no chat model: the fact `kind` of GGUF_NOT_CHAT."""

    MMPROJ = "mmproj"  # the eyes or ears of another model
    DIFFUSION = "diffusion"  # makes images, video, or text all at once
    EMBEDDING = "embedding"
    RERANKER = "reranker"
    ENCODER_DECODER = "encoder_decoder"  # T5 and its like
    SPEECH = "speech"
    DRAFT = "draft"  # guesses ahead for another model
    LORA = "lora"
    IMATRIX = "imatrix"
    CONTROL_VECTOR = "control_vector"
    VOCAB_ONLY = "vocab_only"
    SPLIT_PART = "split_part"  # facts `part` and `parts`


class ForeignFormat(StrEnum):
    """What a file that is no GGUF looks like: the fact `looks_like` of GGUF_NOT_GGUF."""

    SAFETENSORS = "safetensors"
    PYTORCH = "pytorch"
    PICKLE = "pickle"  # most often an older PyTorch file
    GGML_LEGACY = "ggml_legacy"
    HDF5 = "hdf5"
    ZIP = "zip"
    GZIP = "gzip"
    PROGRAM = "program"
    HTML = "html"  # a web page that was saved instead of the file
    JSON = "json"
    GIT_LFS_POINTER = "git_lfs_pointer"  # a clone without Git LFS
    TEXT = "text"
    ZEROS = "zeros"  # a download that reserved its space and stopped
    UNKNOWN = "unknown"


class Origin(StrEnum):
    """How a file came onto the disk; a file the user brought is never deleted without asking."""

    STARTER = "starter"
    IMPORTED = "imported"
    DOWNLOADED = "downloaded"


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A checked GGUF on disk, described by its own header. `path` is absolute; `is_present` was true when listed.

    `card_id` and `card_quantization` name the catalogue's entry it came from; None for a file of the user's own.
    """

    model_id: str
    name: str
    path: str
    size_bytes: int
    architecture: str
    quantization: str | None
    n_ctx_train: int | None
    n_layer: int | None
    has_chat_template: bool
    origin: Origin
    installed_at: float
    note: str = ""
    is_present: bool = True
    card_id: str | None = None
    card_quantization: str | None = None


@dataclass(frozen=True, slots=True)
class ExpertSpec:
    """What the engine needs in order to load an expert, and what the catalogue recommends for sampling it.

    `needs_bytes` is its price in memory, None where unknown.
    """

    model_id: str
    path: str
    params: LoadParams = field(default_factory=LoadParams)
    sampling: SamplingDefaults = field(default_factory=SamplingDefaults)
    needs_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """An expert in memory, as the engine reports it. `n_gpu_layers` counts layers really on a device.

    `template` says whose chat template is in use: `gguf`, or `chatml` where the file has none. `thinking` names the
    switches it looks at: `enable_thinking`, `thinking`, `reasoning_effort`. `moe` is None without MoE experts.
    """

    model_id: str
    architecture: str
    n_ctx: int
    n_ctx_train: int
    n_layer: int
    n_gpu_layers: int
    n_vocab: int
    n_parallel: int
    load_ms: float
    template: str
    memory: MemoryUse
    thinking: tuple[str, ...] = ()
    measure: LoadMeasure = field(default_factory=LoadMeasure)
    moe: MoeShape | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """Of each file its path, whether it is as it should be, and None where nobody knows how it should be."""

    model_id: str
    files: tuple[tuple[str, bool | None], ...]

    @property
    def is_damaged(self) -> bool:
        """Whether a file is not what it was."""
        return any(right is False for _, right in self.files)
