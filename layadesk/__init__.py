"""LayaDesk: chat with local language models, routed to the expert that fits, every load priced before it is paid.

The house, from the front door down; imports point down only (pyproject.toml, `tool.importlinter`):

    __main__            bare entry: freeze_support, then the command line
    cli                 the commands of the README
    app                 composition root: builds, starts and stops everything
    ui | api_server     front rooms: the window (the only Qt) and the HTTP server
    usecases            one file per thing a user can do
    workers | store | model_library | telemetry | settings | chat_files   one resource each, strangers to each other
    engine | router     the two child processes: llama.cpp, and the decision model
    protocol            what the app and its children say to each other
    domain              the words, as frozen values and pure functions
    paths               where files are
"""

__version__ = "0.1.0"
