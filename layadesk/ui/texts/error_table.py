"""What, why and what to do for every ErrorCode. Marked here; filled in and translated by `errors.explain`."""

from collections.abc import Mapping
from typing import Final

from layadesk.domain.errors import ErrorCode
from layadesk.ui.texts.download_errors import DOWNLOAD_ERRORS
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP
from layadesk.ui.texts.remote import REMOTE_ERRORS

ERROR_TEXTS: Final[Mapping[ErrorCode, tuple[str, str]]] = {
    **REMOTE_ERRORS,
    **DOWNLOAD_ERRORS,
    ErrorCode.MODEL_FILE_MISSING: (
        QT_TRANSLATE_NOOP("errors", "The model file {file} is not there."),
        QT_TRANSLATE_NOOP("errors", "Put the file back, or add it from where it is now."),
    ),
    ErrorCode.MODEL_FILE_UNREADABLE: (
        QT_TRANSLATE_NOOP("errors", "The file {subject} cannot be read."),
        QT_TRANSLATE_NOOP("errors", "Check that the disk is connected and that you may read the file."),
    ),
    ErrorCode.REMOTE_FILE_UNREADABLE: (
        QT_TRANSLATE_NOOP("errors", "The beginning of {subject} could not be read from its server."),
        QT_TRANSLATE_NOOP("errors", "Check the address and the connection; the server must hand out parts of files."),
    ),
    ErrorCode.GGUF_EMPTY: (
        QT_TRANSLATE_NOOP("errors", "The file {subject} is empty: a copy or download did not run to its end."),
        QT_TRANSLATE_NOOP("errors", "Copy or download it again."),
    ),
    ErrorCode.GGUF_NOT_GGUF: (
        QT_TRANSLATE_NOOP("errors", "The file {subject} is not a GGUF model; it looks like {format}."),
        QT_TRANSLATE_NOOP("errors", "Choose a file that ends in .gguf; other formats have to be converted first."),
    ),
    ErrorCode.GGUF_VERSION: (
        QT_TRANSLATE_NOOP("errors", "The file {subject} is written in GGUF version {version}, which is not supported."),
        QT_TRANSLATE_NOOP("errors", "Get a newer copy of the model (GGUF version 2 or 3)."),
    ),
    ErrorCode.GGUF_TRUNCATED: (
        QT_TRANSLATE_NOOP("errors", "The file {subject} is cut off: it has {size} bytes and needs at least {needed}."),
        QT_TRANSLATE_NOOP("errors", "Copy or download it again to the end."),
    ),
    ErrorCode.GGUF_DAMAGED: (
        QT_TRANSLATE_NOOP("errors", "The file {subject} is damaged: its header makes no sense."),
        QT_TRANSLATE_NOOP("errors", "Copy or download it again."),
    ),
    ErrorCode.GGUF_UNKNOWN_ARCHITECTURE: (
        QT_TRANSLATE_NOOP("errors", "The architecture “{architecture}” of {subject} is not known to this version."),
        QT_TRANSLATE_NOOP("errors", "Update LayaDesk, or choose a model with a known architecture."),
    ),
    ErrorCode.GGUF_NOT_CHAT: (
        QT_TRANSLATE_NOOP("errors", "The file {subject} cannot chat: it is {kind}."),
        QT_TRANSLATE_NOOP("errors", "Choose the main file of a chat model, often marked “instruct” or “chat”."),
    ),
    ErrorCode.GGUF_NO_VOCABULARY: (
        QT_TRANSLATE_NOOP("errors", "The file {subject} has no vocabulary, so text cannot be turned into tokens."),
        QT_TRANSLATE_NOOP("errors", "Get a complete copy of the model."),
    ),
    ErrorCode.GGUF_SPLIT_INCOMPLETE: (
        QT_TRANSLATE_NOOP("errors", "The model {subject} is split into {parts} parts, and {missing} is missing."),
        QT_TRANSLATE_NOOP("errors", "Put all parts into one folder and choose the first one."),
    ),
    ErrorCode.MODEL_ALREADY_INSTALLED: (
        QT_TRANSLATE_NOOP("errors", "The model {subject} is already among your experts."),
        QT_TRANSLATE_NOOP("errors", "Choose it from the list of experts."),
    ),
    ErrorCode.CATALOGUE_DAMAGED: (
        QT_TRANSLATE_NOOP("errors", "The catalogue of models cannot be read."),
        QT_TRANSLATE_NOOP("errors", "Install LayaDesk again, or restore models.json; your own models are safe."),
    ),
    ErrorCode.OWN_CATALOGUE_DAMAGED: (
        QT_TRANSLATE_NOOP("errors", "In your own catalogue, {subject}, {place} cannot be used: {detail}."),
        QT_TRANSLATE_NOOP("errors", "Correct it there or take it out; everything else stays usable."),
    ),
    ErrorCode.NO_MODEL_FOUND: (
        QT_TRANSLATE_NOOP("errors", "There is no GGUF file in {subject}."),
        QT_TRANSLATE_NOOP("errors", "Choose the folder in which the .gguf files lie, or one above it."),
    ),
    ErrorCode.NO_LEFTOVER: (
        QT_TRANSLATE_NOOP("errors", "{subject} is not among what was left behind in the models folder."),
        QT_TRANSLATE_NOOP("errors", "See what is, on the Models page, or with: layadesk models list --leftovers"),
    ),
    ErrorCode.UNKNOWN_MODEL: (
        QT_TRANSLATE_NOOP("errors", "No model is called {subject}, neither in the catalogue nor on this disk."),
        QT_TRANSLATE_NOOP("errors", "See what there is on the Models page, or with: layadesk models list --catalogue"),
    ),
    ErrorCode.MODEL_NOT_HERE: (
        QT_TRANSLATE_NOOP("errors", "There is no model {subject} on this disk."),
        QT_TRANSLATE_NOOP("errors", "See what is, on the Models page, or with: layadesk models list"),
    ),
    ErrorCode.INVENTORY_DAMAGED: (
        QT_TRANSLATE_NOOP("errors", "The list of installed models cannot be read."),
        QT_TRANSLATE_NOOP("errors", "Add your model files again; the files themselves are untouched."),
    ),
    ErrorCode.NO_EXPERT_INSTALLED: (
        QT_TRANSLATE_NOOP("errors", "There is no expert yet that could answer."),
        QT_TRANSLATE_NOOP("errors", "Add a model file (GGUF)."),
    ),
    ErrorCode.UNKNOWN_EXPERT: (
        QT_TRANSLATE_NOOP("errors", "The expert {subject} is not installed."),
        QT_TRANSLATE_NOOP("errors", "Choose another expert, or Auto."),
    ),
    ErrorCode.EXPERT_BUSY: (
        QT_TRANSLATE_NOOP("errors", "The expert {subject} is answering or being loaded, so it stays in memory."),
        QT_TRANSLATE_NOOP("errors", "Wait for the end of its answers, or stop them first."),
    ),
    ErrorCode.EMPTY_PROMPT: (
        QT_TRANSLATE_NOOP("errors", "There is nothing to answer: the message is empty."),
        QT_TRANSLATE_NOOP("errors", "Write something first."),
    ),
    ErrorCode.CONTEXT_LENGTH_EXCEEDED: (
        QT_TRANSLATE_NOOP("errors", "The message is too long: {n_prompt} tokens, and the context holds {n_ctx}."),
        QT_TRANSLATE_NOOP("errors", "Shorten it, or load the expert with a longer context."),
    ),
    ErrorCode.TEMPLATE_FAILED: (
        QT_TRANSLATE_NOOP("errors", "The chat template of {subject} cannot be used."),
        QT_TRANSLATE_NOOP("errors", "Get a newer copy of the model, or choose another expert."),
    ),
    ErrorCode.BAD_PARAMETER: (
        QT_TRANSLATE_NOOP("errors", "The value {value} of {parameter} is not possible."),
        QT_TRANSLATE_NOOP("errors", "Choose a value within its limits."),
    ),
    ErrorCode.BAD_GRAMMAR: (
        QT_TRANSLATE_NOOP("errors", "The answer cannot be bound to this {kind}: {detail}."),
        QT_TRANSLATE_NOOP("errors", "Simplify the JSON schema or the grammar, or leave it out."),
    ),
    ErrorCode.DUPLICATE_REQUEST: (
        QT_TRANSLATE_NOOP("errors", "This request is being answered already."),
        QT_TRANSLATE_NOOP("errors", "Wait for its answer."),
    ),
    ErrorCode.QUEUE_FULL: (
        QT_TRANSLATE_NOOP("errors", "Too many requests are waiting for this expert."),
        QT_TRANSLATE_NOOP("errors", "Try again when some of them are done."),
    ),
    ErrorCode.PORT_IN_USE: (
        QT_TRANSLATE_NOOP("errors", "The port {port} is in use by {holder}, so the server was not started."),
        QT_TRANSLATE_NOOP("errors", "Choose another port, for instance {free_port}, or end that program."),
    ),
    ErrorCode.ADDRESS_UNAVAILABLE: (
        QT_TRANSLATE_NOOP("errors", "The server cannot listen at the address {host}."),
        QT_TRANSLATE_NOOP("errors", "Choose an address of this machine, for instance 127.0.0.1."),
    ),
    ErrorCode.API_KEY_NEEDED: (
        QT_TRANSLATE_NOOP("errors", "At the address {host} other machines could ask, so an API key is needed first."),
        QT_TRANSLATE_NOOP("errors", "Make a key (layadesk serve --api-key), or choose 127.0.0.1."),
    ),
    ErrorCode.UNKNOWN_CONVERSATION: (
        QT_TRANSLATE_NOOP("errors", "This conversation or message is not there any more."),
        QT_TRANSLATE_NOOP("errors", "Choose another conversation, or start a new one."),
    ),
    ErrorCode.CHAT_FILE_UNREADABLE: (
        QT_TRANSLATE_NOOP("errors", "No conversations could be read from the file {path}."),
        QT_TRANSLATE_NOOP("errors", "Choose a JSON export of LayaDesk, ChatGPT or Open WebUI."),
    ),
    ErrorCode.ATTACHMENT_UNREADABLE: (
        QT_TRANSLATE_NOOP("errors", "The file {path} could not be attached as text."),
        QT_TRANSLATE_NOOP("errors", "Attach text, code or a PDF with text in it, up to 50 MiB and without a password."),
    ),
    ErrorCode.SETTINGS_FILE_FOREIGN: (
        QT_TRANSLATE_NOOP("errors", "The file {path} could not be read as settings."),
        QT_TRANSLATE_NOOP("errors", "Choose a YAML file with the parts router, expert_pool or inference."),
    ),
    ErrorCode.EXPORT_FAILED: (
        QT_TRANSLATE_NOOP("errors", "The file {path} could not be written."),
        QT_TRANSLATE_NOOP("errors", "Choose another folder, or make room on the disk."),
    ),
    ErrorCode.CONVERSATION_BUSY: (
        QT_TRANSLATE_NOOP("errors", "An answer is still being written in this conversation."),
        QT_TRANSLATE_NOOP("errors", "Wait until it is complete, or stop it first."),
    ),
    ErrorCode.ALREADY_RUNNING: (
        QT_TRANSLATE_NOOP("errors", "LayaDesk is open already with the data folder {path}, and does not answer."),
        QT_TRANSLATE_NOOP("errors", "Wait until it answers again, or end it; another --data-dir opens a second one."),
    ),
    ErrorCode.CANNOT_CONTINUE: (
        QT_TRANSLATE_NOOP("errors", "This answer cannot be gone on with."),
        QT_TRANSLATE_NOOP("errors", "Only the last answer can, where it was stopped or cut off. Answer again instead."),
    ),
    ErrorCode.DATA_DIR_READ_ONLY: (
        QT_TRANSLATE_NOOP("errors", "The data folder cannot be written to ({subject})."),
        QT_TRANSLATE_NOOP("errors", "Allow writing to it, or start with --data-dir and another folder."),
    ),
    ErrorCode.DISK_FULL: (
        QT_TRANSLATE_NOOP("errors", "The disk with the data folder is full."),
        QT_TRANSLATE_NOOP("errors", "Free some space; what was not saved is saved then."),
    ),
    ErrorCode.DISK_ERROR: (
        QT_TRANSLATE_NOOP("errors", "The disk with the data folder reports errors."),
        QT_TRANSLATE_NOOP("errors", "Check the disk and its cable, or start with --data-dir and another folder."),
    ),
    ErrorCode.DATABASE_DAMAGED: (
        QT_TRANSLATE_NOOP("errors", "The file with your conversations is damaged."),
        QT_TRANSLATE_NOOP("errors", "It was moved aside; the newest good backup is used where there is one."),
    ),
    ErrorCode.DATABASE_TOO_NEW: (
        QT_TRANSLATE_NOOP("errors", "Your conversations were saved by a newer version of LayaDesk."),
        QT_TRANSLATE_NOOP("errors", "Update LayaDesk, or start with --data-dir and another folder."),
    ),
    ErrorCode.DATABASE_BUSY: (
        QT_TRANSLATE_NOOP("errors", "Another program has locked the file with your conversations."),
        QT_TRANSLATE_NOOP("errors", "Close other windows of LayaDesk and backup programs, then try again."),
    ),
    ErrorCode.DATABASE_MIGRATION_FAILED: (
        QT_TRANSLATE_NOOP("errors", "Your conversations could not be brought to the format of this version."),
        QT_TRANSLATE_NOOP("errors", "Nothing was changed. Go on with the version you had before, and report this."),
    ),
    ErrorCode.LOAD_REFUSED: (
        QT_TRANSLATE_NOOP(
            "errors",
            "{subject} does not fit into memory: it needs {needs_gib} on {device}, {free_gib} are free and "
            "{reserve_gib} have to stay free. Most of it is for {item}, {item_gib}.",
        ),
        QT_TRANSLATE_NOOP(
            "errors",
            "Choose a smaller context, another expert, or a way out that is offered (layadesk fit lists all).",
        ),
    ),
    ErrorCode.LOAD_PRICE_UNKNOWN: (
        QT_TRANSLATE_NOOP("errors", "Nobody can tell whether {subject} fits into memory."),
        QT_TRANSLATE_NOOP("errors", "Load it anyway, or choose another expert."),
    ),
    ErrorCode.OUT_OF_MEMORY: (
        QT_TRANSLATE_NOOP("errors", "There was not enough memory."),
        QT_TRANSLATE_NOOP("errors", "Choose a smaller expert or a shorter context, or close other programs."),
    ),
    ErrorCode.SAFE_MODE: (
        QT_TRANSLATE_NOOP(
            "errors", "LayaDesk did not get through its last {n} starts, so this time it leaves graphics cards alone."
        ),
        QT_TRANSLATE_NOOP(
            "errors", "Start it again to use them. If it ends at once again, a newer graphics driver may help."
        ),
    ),
    ErrorCode.NO_DISPLAY: (
        QT_TRANSLATE_NOOP("errors", "There is no screen to open the window on."),
        QT_TRANSLATE_NOOP("errors", "Start it in a desktop session, or use `layadesk ask` in the terminal."),
    ),
    ErrorCode.QT_MISSING_LIBRARY: (
        QT_TRANSLATE_NOOP("errors", "The window cannot be opened: the system library {library} is missing."),
        QT_TRANSLATE_NOOP("errors", "Install it with: sudo apt-get install -y {packages}"),
    ),
    ErrorCode.MODEL_LOAD_FAILED: (
        QT_TRANSLATE_NOOP("errors", "The expert {subject} could not be loaded."),
        QT_TRANSLATE_NOOP("errors", "Check that there is enough memory, and that the file is complete."),
    ),
    ErrorCode.MODEL_SUSPECT: (
        QT_TRANSLATE_NOOP("errors", "The engine died while it was loading {subject}, so it is not loaded by itself."),
        QT_TRANSLATE_NOOP("errors", "Load it with a shorter context or fewer GPU layers, or choose another expert."),
    ),
    ErrorCode.DECODE_FAILED: (
        QT_TRANSLATE_NOOP("errors", "The engine could not go on with this answer."),
        QT_TRANSLATE_NOOP("errors", "Try again; when it happens again, choose a shorter context."),
    ),
    ErrorCode.ENGINE_DIED: (
        QT_TRANSLATE_NOOP("errors", "The engine stopped in mid-answer: {how}."),
        QT_TRANSLATE_NOOP("errors", "The text so far is kept. The engine starts again by itself; then try again."),
    ),
    ErrorCode.ENGINE_GAVE_UP: (
        QT_TRANSLATE_NOOP("errors", "The engine stopped too often and is not started again by itself: {how}."),
        QT_TRANSLATE_NOOP("errors", "Choose another expert or a shorter context, then start the engine again."),
    ),
    ErrorCode.ENGINE_HUNG: (
        QT_TRANSLATE_NOOP("errors", "The engine did not answer any more and was ended."),
        QT_TRANSLATE_NOOP("errors", "The text so far is kept. Try again when the engine is back."),
    ),
    ErrorCode.ENGINE_BAD_BUILD: (
        QT_TRANSLATE_NOOP("errors", "The installed build of llama.cpp does not run on this machine."),
        QT_TRANSLATE_NOOP("errors", "Run the set-up again; it builds llama.cpp anew for this machine."),
    ),
    ErrorCode.ENGINE_CPU_TOO_OLD: (
        QT_TRANSLATE_NOOP("errors", "This processor lacks {detail}, which the installed build of llama.cpp uses."),
        QT_TRANSLATE_NOOP("errors", "Build llama.cpp on this machine: the README says how."),
    ),
    ErrorCode.PROTOCOL_MISMATCH: (
        QT_TRANSLATE_NOOP("errors", "The program and its engine do not speak the same version."),
        QT_TRANSLATE_NOOP("errors", "Install LayaDesk again, so that all its parts are of one version."),
    ),
    ErrorCode.ROUTER_AWAY: (
        QT_TRANSLATE_NOOP("errors", "The router is not there, so nobody can choose between the experts."),
        QT_TRANSLATE_NOOP("errors", "The default expert answers meanwhile; you can also choose one yourself."),
    ),
    ErrorCode.ROUTER_MODEL_MISSING: (
        QT_TRANSLATE_NOOP("errors", "The router's file {path} is not there."),
        QT_TRANSLATE_NOOP("errors", "Install LayaDesk again, or choose another router in the settings."),
    ),
    ErrorCode.ROUTER_MODEL_DAMAGED: (
        QT_TRANSLATE_NOOP("errors", "The router's file {path} cannot be used ({detail})."),
        QT_TRANSLATE_NOOP("errors", "Get a newer copy of it, or choose another router in the settings."),
    ),
    ErrorCode.ROUTER_UNKNOWN: (
        QT_TRANSLATE_NOOP(
            "errors", "There is no router {router}; there are bundled, none, and Laya checkpoints as laya:DIRECTORY."
        ),
        QT_TRANSLATE_NOOP("errors", "Choose one of these."),
    ),
    ErrorCode.TOO_FEW_CORRECTIONS: (
        QT_TRANSLATE_NOOP("errors", "There are too few corrections to learn from: {n}, and it takes {needed}."),
        QT_TRANSLATE_NOOP("errors", "Go on correcting routes that were wrong, and calibrate later."),
    ),
    ErrorCode.NOTHING_TO_UNDO: (
        QT_TRANSLATE_NOOP("errors", "The router has not been calibrated here, so there is nothing to take back."),
        QT_TRANSLATE_NOOP("errors", "Nothing has to be done."),
    ),
    ErrorCode.EXPERT_TABLE_DAMAGED: (
        QT_TRANSLATE_NOOP(
            "errors",
            "The table of what the experts are good at, {path}, has an entry that cannot be used: {entry} ({detail}).",
        ),
        QT_TRANSLATE_NOOP("errors", "The entry is left out until it is mended; the others count."),
    ),
    ErrorCode.BAD_SETTING: (
        QT_TRANSLATE_NOOP("errors", "The value {value} is not possible for the setting {key}."),
        QT_TRANSLATE_NOOP("errors", "Choose a value within its limits; the default is used meanwhile."),
    ),
    ErrorCode.SETTINGS_DAMAGED: (
        QT_TRANSLATE_NOOP("errors", "The settings file cannot be read."),
        QT_TRANSLATE_NOOP("errors", "It was kept beside the new one; default settings are used."),
    ),
    ErrorCode.INTERNAL: (
        QT_TRANSLATE_NOOP("errors", "Something went wrong inside LayaDesk."),
        QT_TRANSLATE_NOOP("errors", "Your conversations are safe. Please report it with the file app.log."),
    ),
}
