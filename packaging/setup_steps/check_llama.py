"""Run by the environment's Python with a small GGUF: does the installed llama.cpp decode? Prints one JSON object.

Some builds load and then die at the first prompt; then there is no JSON, and the exit status names the signal.
"""

import json
import sys

import llama_cpp

if __name__ == "__main__":
    gpu_offload = bool(llama_cpp.llama_supports_gpu_offload())
    n_gpu_layers = -1 if gpu_offload else 0  # a build for a graphics card has to prove itself there
    model = llama_cpp.Llama(model_path=sys.argv[1], n_ctx=256, n_gpu_layers=n_gpu_layers, verbose=False)
    answer = model.create_completion("One, two, three,", max_tokens=8, temperature=0.0)
    facts = {
        "version": llama_cpp.__version__,
        "n_decoded": answer["usage"]["completion_tokens"],
        "gpu_offload": gpu_offload,
    }
    print(json.dumps(facts))
