"""What a hub says about a file before its bytes are fetched: asked through `huggingface_hub`, held to the catalogue.

The sha256 is always the catalogue's, or where that has none, that of huggingface.co itself; a mirror is never believed.
Nothing of `huggingface_hub` moves bytes here, so hf_xet is not used, which stalls (reported faults D22, D23). Its
modules are named in full: the package's own lazy imports would hide them from who builds a bundle.
"""

import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx2

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.models import FilePart, ModelCard, ModelFile
from layadesk.model_library.catalogue_entry import HUGGINGFACE
from layadesk.model_library.transfer import Remote
from layadesk.model_library.web import (
    CONNECT_S,
    Token,
    Transient,
    host_of,
    make_client,
    origin_of,
    status_error,
    transient,
)

if TYPE_CHECKING:
    from huggingface_hub.file_download import HfFileMetadata

HOME = "https://huggingface.co"
MODELSCOPE_SITE = "https://www.modelscope.cn"
MODELSCOPE = "modelscope"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_ENV_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
# Read when `huggingface_hub` is imported. Without it, the library tells the hub which torch is here, and asks it once a
# day for a list of programs that might have called it: a request of its own that nobody has asked for.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")


@dataclass(frozen=True, slots=True)
class HubRules:
    """Whom to ask. `endpoint` empty: HF_ENDPOINT of the environment, else huggingface.co; `modelscope`: that first.

    `home` is the one origin that may see the token, and whose word is taken for a sum.
    """

    endpoint: str = ""
    proxy: str = ""
    home: str = HOME
    modelscope_site: str = MODELSCOPE_SITE
    stall_s: float = 30.0

    @property
    def address(self) -> str:
        """The hub that is asked first, without a slash at its end."""
        chosen = "" if self.endpoint == MODELSCOPE else self.endpoint
        address = (chosen or os.environ.get("HF_ENDPOINT") or self.home).strip().rstrip("/")
        return address if "://" in address else f"https://{address}"

    def home_of_mirror(self, address: str) -> str:
        """The host of the hub itself where that address is another's; else empty."""
        return "" if origin_of(address) == origin_of(self.home) else host_of(self.home)


class Hub:
    """Any thread. `rules` is asked anew for each download, so that a changed setting counts at once."""

    def __init__(self, rules: Callable[[], HubRules]) -> None:
        self._rules = rules
        self._lock = threading.Lock()
        self._factory_of = ""

    @property
    def rules(self) -> HubRules:
        """As they are now."""
        return self._rules()

    def client(self) -> httpx2.Client:
        """For the bytes; close it."""
        rules = self._rules()
        return make_client(rules.proxy, stall_s=rules.stall_s)

    def token(self) -> Token | None:
        """The user's token, where there is one: of the environment, or as `hf auth login` has kept it (fault D28)."""
        from huggingface_hub.utils._auth import get_token  # noqa: PLC0415 - takes its time; not every run downloads

        secret = get_token()
        if not secret:
            return None
        source = next((name for name in _ENV_TOKENS if os.environ.get(name)), "hf auth login")
        return Token(secret, self._rules().home, source)

    def address_of(self, file: ModelFile, part: FilePart) -> str:
        """Where anybody may read it, without a token. Raises NOT_DOWNLOADABLE."""
        if not file.source.startswith(HUGGINGFACE):
            raise fail(ErrorCode.NOT_DOWNLOADABLE, model_id=part.path, source=file.source)
        return _address(self._rules().address, file.source.removeprefix(HUGGINGFACE), file.revision, part.path)

    def look_up(self, card: ModelCard, file: ModelFile, part: FilePart) -> Remote:
        """Where the part lies and what it must be. Blocks up to ten seconds; raises Transient and HUB_* errors."""
        rules = self._rules()
        if not file.source.startswith(HUGGINGFACE):
            raise fail(ErrorCode.NOT_DOWNLOADABLE, model_id=card.model_id, source=file.source)
        if rules.endpoint == MODELSCOPE and card.modelscope is not None and file.source == card.source and part.sha256:
            return self._on_modelscope(card, card.modelscope, part, rules)
        repo = file.source.removeprefix(HUGGINGFACE)
        found = self._ask(repo, file.revision, part, rules.address, rules)
        sha256 = part.sha256 or self._sum_of(repo, file.revision, part, found, rules)
        size = part.size_bytes if part.size_bytes is not None else found.size
        facts = {"host": host_of(rules.address), "file": part.path}
        if found.size is not None and found.size != size:
            raise fail(ErrorCode.HUB_CHANGED, **facts, value=found.size, expected=size)
        if found.etag is not None and _SHA256.fullmatch(found.etag) and found.etag != sha256:
            raise fail(ErrorCode.HUB_CHANGED, **facts, value=found.etag, expected=sha256)
        url = _address(rules.address, repo, file.revision, part.path)
        return Remote(url, repo, part.path, f"{rules.home}/{repo}", size, sha256, rules.home_of_mirror(rules.address))

    def _sum_of(self, repo: str, revision: str | None, part: FilePart, found: "HfFileMetadata", rules: HubRules) -> str:
        """Of a file whose sum the catalogue does not have."""
        if origin_of(rules.address) != origin_of(rules.home):
            try:
                found = self._ask(repo, revision, part, rules.home, rules)
            except Transient as error:
                raise fail(ErrorCode.HUB_NO_CHECKSUM, host=host_of(rules.address), file=part.path) from error
        if found.etag is None or not _SHA256.fullmatch(found.etag):
            raise fail(ErrorCode.HUB_NO_CHECKSUM, host=host_of(rules.home), file=part.path)
        return found.etag

    @staticmethod
    def _on_modelscope(card: ModelCard, modelscope: str, part: FilePart, rules: HubRules) -> Remote:
        repo, _, revision = modelscope.partition("@")
        url = f"{rules.modelscope_site}/models/{repo}/resolve/{revision or 'master'}/{quote(part.path)}"
        page, home = f"{rules.home}/{card.source.removeprefix(HUGGINGFACE)}", rules.home_of_mirror(url)
        return Remote(url, repo, part.path, page, part.size_bytes, part.sha256 or "", home)

    def _ask(self, repo: str, revision: str | None, part: FilePart, address: str, rules: HubRules) -> "HfFileMetadata":
        from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled  # noqa: PLC0415
        from huggingface_hub.file_download import get_hf_file_metadata  # noqa: PLC0415

        self._use_proxy(rules.proxy)
        url = _address(address, repo, revision, part.path)
        token = self.token()
        may_see = token is not None and bool(token.headers(url))
        try:
            return get_hf_file_metadata(
                url, token=token.secret if token is not None and may_see else False, timeout=CONNECT_S, endpoint=address
            )
        except HfHubHTTPError as error:
            facts = {"host": host_of(address), "repo": repo, "file": part.path, "page": f"{rules.home}/{repo}"}
            home = rules.home_of_mirror(address)
            facts |= {"home": home} if home else {}
            raise _hub_error(error, facts, token if may_see else None) from error
        except OfflineModeIsEnabled as error:
            raise fail(ErrorCode.HUB_UNREACHABLE, host=host_of(address), reason="HF_HUB_OFFLINE=1") from error
        except (httpx2.TransportError, OSError) as error:
            raise transient(error, address) from error

    def _use_proxy(self, proxy: str) -> None:
        """Let `huggingface_hub` go the same way as the bytes; its client is one for the whole process."""
        from huggingface_hub.utils._http import default_client_factory, set_client_factory  # noqa: PLC0415

        with self._lock:
            if proxy != self._factory_of:
                self._factory_of = proxy
                set_client_factory(_with_proxy(proxy) if proxy else default_client_factory)


def _with_proxy(proxy: str) -> Callable[[], httpx2.Client]:
    def make() -> httpx2.Client:
        client = make_client(proxy)
        client.follow_redirects = True
        return client

    return make


def _address(endpoint: str, repo: str, revision: str | None, path: str) -> str:
    return f"{endpoint}/{repo}/resolve/{revision or 'main'}/{quote(path)}"


def _hub_error(error: Exception, facts: dict[str, str], token: Token | None) -> LayaDeskError | Transient:
    from huggingface_hub.errors import GatedRepoError  # noqa: PLC0415

    if isinstance(error, GatedRepoError):
        return status_error(403, {}, facts, token)
    response = getattr(error, "response", None)
    if response is None:
        return Transient(ErrorReport(ErrorCode.HUB_UNREACHABLE, {"host": facts["host"], "reason": str(error)[:200]}))
    return status_error(response.status_code, response.headers, facts, token)
