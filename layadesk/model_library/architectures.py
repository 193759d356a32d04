"""The architectures (`general.architecture`) that the engine's llama.cpp can chat with, and what the others are.

Source: `LLM_ARCH_NAMES` (src/llama-arch.cpp) and `llama_model_create` (src/llama-model.cpp) of the llama.cpp vendored
in llama-cpp-python 0.3.36, revision 0c1e57098; a test looks each name up in the installed library. Left out of CHAT are
the entries of NOT_CHAT, and `gptj`, which has a name there but no implementation. Image and video architectures are
those of the IMG_ARCH_LIST of city96's ComfyUI-GGUF, the program most such files are made for.
"""

from layadesk.domain.models import NotChatKind

_CHAT_NAMES = """
llama llama4 deci falcon grok gpt2 gptneox mpt baichuan starcoder refact bloom stablelm qwen qwen2 qwen2moe qwen2vl
qwen3 qwen3moe qwen3next qwen3vl qwen3vlmoe qwen35 qwen35moe qwen4exp phi2 phi3 phimoe plamo plamo2 plamo3 codeshell
orion internlm2 minicpm minicpm3 gemma gemma2 gemma3 gemma3n gemma4 starcoder2 mamba mamba2 maple jamba falcon-h1
xverse command-r cohere2 cohere2moe dbrx olmo olmo2 olmoe muse-glimmer openelm arctic deepseek deepseek2
deepseek2-ocr deepseek32 deepseek4 chatglm glm4 glm4moe glm-dsa bitnet jais jais2 nemotron nemotron_h nemotron_h_moe
exaone exaone4 exaone-moe rwkv6 rwkv6qwen2 rwkv7 arwkv7 granite granitemoe granitehybrid graniteswitch granite_swa
chameleon plm bailingmoe bailingmoe2 bailingmoe3 dots1 dots3note arcee afmoe laguna ernie4_5 ernie4_5-moe
hunyuan-moe hunyuan-dense hunyuan_vl hy_v3 hy_v4 smollm3 gpt-oss lfm2 lfm2moe smallthinker seed_oss grovemoe apertus
minimax-01 hrm_text minimax-m2 minimax-m3 cogvlm pangu-embedded mistral3 mistral4 paddleocr mimo2 step35 spark2_5
maincoder kimi-linear kimi-k3 glm5-next talkie mellum nanbeige
"""
CHAT = frozenset(_CHAT_NAMES.split())

_KINDS = {
    NotChatKind.MMPROJ: "clip",
    NotChatKind.EMBEDDING: (
        "bert modern-bert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert gemma-embedding "
        "llama-embed t5encoder"
    ),
    NotChatKind.ENCODER_DECODER: "t5",
    NotChatKind.DIFFUSION: (
        "dream llada llada-moe rnd1 flux sd1 sdxl sd3 aura hidream cosmos ltxv hyvid wan lumina2 qwen_image"
    ),
    NotChatKind.SPEECH: "wavtokenizer-dec qwen3tts pockettts",
    NotChatKind.DRAFT: "eagle3 dflash gemma4-assistant",
    NotChatKind.CONTROL_VECTOR: "controlvector",
}
NOT_CHAT = {architecture: kind for kind, names in _KINDS.items() for architecture in names.split()}

# `general.type`; absent or `model` for ordinary models
NOT_CHAT_TYPES = {
    "adapter": NotChatKind.LORA,
    "imatrix": NotChatKind.IMATRIX,
    "mmproj": NotChatKind.MMPROJ,
    "clip-vision": NotChatKind.MMPROJ,
    "controlvector": NotChatKind.CONTROL_VECTOR,
}

# Files of image programs often name no architecture at all.
DIFFUSION_TENSORS = ("model.diffusion_model.", "first_stage_model.", "double_blocks.", "joint_blocks.", "vae.")
