"""The app's side of `layadesk bench moe`: one question to a process that ends with its answer."""

from layadesk.domain.errors import ErrorCode, fail, from_report
from layadesk.domain.models import ExpertSpec
from layadesk.protocol.bench import MoeBenchReply, MoeBenchRun
from layadesk.protocol.channel import Channel
from layadesk.workers import spawn
from layadesk.workers.bench_rivals import end


def measure_moe(spec: ExpertSpec, n_tokens: int, prompts: tuple[str, ...]) -> MoeBenchReply:
    """Blocks while it is measured. Raises what the load raises, BAD_PARAMETER for a model without MoE experts."""
    child = spawn.start_moe_bench(spec)
    try:
        channel: Channel[MoeBenchRun, MoeBenchReply] = Channel(child.connection, MoeBenchReply)
        channel.send(MoeBenchRun(spec.path, n_tokens, prompts))
        reply = channel.receive()
    except (EOFError, OSError) as error:
        raise fail(ErrorCode.ENGINE_DIED, detail="the measuring process ended") from error
    finally:
        end(child)
    if reply.error is not None:
        raise from_report(reply.error)
    return reply
