"""What is proposed for a machine, with made-up experts; tests/usecases has the real catalogue."""

from layadesk.domain.memory_fit.bill import CPU, Basis, DeviceBill, MemoryBill
from layadesk.domain.memory_fit.machine import GIB, GpuMemory, MachineMemory, MemoryKind
from layadesk.domain.proposal import Candidate, RouterCandidate, capability, propose, propose_router, together
from layadesk.domain.quantization import Closeness
from layadesk.domain.routing_labels import Effort
from layadesk.domain.strengths import Strengths

BUNDLED = RouterCandidate("bundled", 0.74, 0)
UNMEASURED = RouterCandidate("laya", None, 800_000_000)
CARD = MachineMemory(64 * GIB, 56 * GIB, (GpuMemory("CUDA0", "RTX 4090", MemoryKind.DISCRETE, 24 * GIB, 23 * GIB),))
ANY = Strengths({}, {}, (), Effort.HEAVY)
CODER = Strengths({"code": 0.95}, {}, (), Effort.HEAVY, otherwise=0.3)


def expert(
    name: str,
    billions: float,
    *,
    gib: float,
    device: str = "CUDA0",
    strengths: Strengths = ANY,
    tps: float = 40.0,
    quantization: str = "Q4_K_M",
    closeness: Closeness = Closeness.GOOD,
    active_share: float = 1.0,
    download_gib: float | None = None,
) -> Candidate:
    bill = MemoryBill((DeviceBill(device, round(gib * GIB)),), 1, 1, Basis.ARITHMETIC)
    n_bytes = round((gib if download_gib is None else download_gib) * GIB)
    return Candidate(name, quantization, strengths, billions * 1e9, active_share, closeness, n_bytes, bill, tps)


def names(*experts: Candidate, machine: MachineMemory = CARD, disk_gib: float | None = None, language: str = "") -> str:
    disk = None if disk_gib is None else round(disk_gib * GIB)
    found = propose(experts, [BUNDLED], machine, free_disk_bytes=disk, language=language)
    return " ".join(one.model_id for one in found.experts)


def test_a_large_expert_is_joined_by_one_that_is_better_at_something_else() -> None:
    assert names(expert("large", 27, gib=15), expert("coder", 7, gib=5, strengths=CODER)) == "large coder"


def test_a_third_expert_that_adds_nothing_is_left_out() -> None:
    coder = expert("coder", 7, gib=5, strengths=CODER)
    assert names(expert("nine", 9, gib=6), coder, expert("coder-too", 7, gib=5, strengths=CODER)).startswith("nine cod")
    assert len(names(expert("nine", 9, gib=6), coder, expert("coder-too", 7, gib=5, strengths=CODER)).split()) == 2


def test_what_fits_alone_but_not_together_is_not_proposed_together() -> None:
    large, coder = expert("large", 27, gib=17), expert("coder", 7, gib=6, strengths=CODER)
    assert names(large, coder) == "large"
    found = propose([large, coder], [], CARD)
    assert sum(one.total_bytes for one in found.together) <= 23 * GIB


def test_the_reserve_of_the_machine_stays_free() -> None:
    assert names(expert("exact", 27, gib=22)) == ""  # 23 are free, 1.9 have to stay
    assert names(expert("exact", 27, gib=21)) == "exact"


def test_light_work_gets_a_fast_expert_where_the_large_one_is_slower() -> None:
    here = MachineMemory(32 * GIB, 28 * GIB)
    nine = expert("nine", 9, gib=6, device=CPU, tps=10.0)
    small = expert("small", 4, gib=3, device=CPU)
    assert names(nine, small, machine=here) == "nine small"
    slow = expert("large", 27, gib=16, device=CPU, tps=3.0)
    assert names(slow, nine, small, machine=here) == "nine small"  # it runs, but nobody would enjoy it


def test_what_crawls_is_not_worth_its_memory() -> None:
    here = MachineMemory(64 * GIB, 60 * GIB)
    assert names(expert("huge", 70, gib=40, device=CPU, tps=1.0), machine=here) == "huge"
    crawling = expert("huge", 70, gib=40, device=CPU, tps=1.0)
    others = expert("nine", 9, gib=6, device=CPU), expert("four", 4, gib=3, device=CPU)
    assert names(crawling, *others, machine=here) == "nine four"


def test_one_model_is_proposed_once_in_its_first_quantization_where_that_fits() -> None:
    first = expert("nine", 9, gib=6)
    exact = expert("nine", 9, gib=10, quantization="Q8_0", closeness=Closeness.NEAR)
    found = propose([first, exact], [], CARD)
    assert [one.model_id for one in found.experts] == ["nine"]
    tight = MachineMemory(16 * GIB, 9 * GIB, (GpuMemory("CUDA0", "card", MemoryKind.DISCRETE, 8 * GIB, 7 * GIB),))
    (chosen,) = propose([first, exact], [], tight).experts
    assert chosen.quantization == "Q4_K_M"


def test_two_bits_are_never_proposed() -> None:
    weak = expert("large", 27, gib=9, quantization="UD-Q2_K_XL", closeness=Closeness.WEAK)
    assert names(weak, expert("nine", 9, gib=6)) == "nine"


def test_the_disk_keeps_what_a_system_needs() -> None:
    large, small = expert("large", 27, gib=16), expert("small", 4, gib=3)
    assert names(large, small, disk_gib=20) == "small"
    assert names(large, small, disk_gib=7) == ""
    assert names(expert("large", 27, gib=16, download_gib=0), disk_gib=1) == "large"  # it is here already


def test_who_does_not_speak_the_users_language_comes_second() -> None:
    english = expert("english", 9, gib=6, strengths=Strengths({}, {}, ("en",), Effort.HEAVY))
    both = expert("both", 4, gib=3, strengths=Strengths({}, {}, ("zh", "en"), Effort.HEAVY))
    any_language = expert("any", 4, gib=3)
    assert names(english, both, any_language, language="zh") in {"both any", "any both"}
    assert names(english, both, any_language, language="en").startswith("english")


def test_what_is_good_at_nothing_is_proposed_only_where_nothing_else_fits() -> None:
    tiny = expert("tiny", 0.1, gib=0.2, strengths=Strengths({"chat": 0.25}, {}, (), Effort.LIGHT, otherwise=0.15))
    assert names(tiny, expert("nine", 9, gib=6)) == "nine"
    assert names(tiny) == "tiny"


def test_nothing_that_fits_is_no_proposal_and_the_router_is_there_all_the_same() -> None:
    found = propose([expert("large", 27, gib=30)], [UNMEASURED, BUNDLED], CARD)
    assert (found.experts, found.together, found.router, found.download_bytes) == ((), (), BUNDLED, 0)


def test_a_router_that_nobody_has_measured_is_not_proposed() -> None:
    assert propose_router([UNMEASURED, BUNDLED]) is BUNDLED
    assert propose_router([UNMEASURED]) is None


def test_a_driver_is_paid_for_once() -> None:
    bills = [DeviceBill("CUDA0", GIB, overhead_bytes=600), DeviceBill("CUDA0", 2 * GIB, overhead_bytes=700)]
    experts = [
        Candidate(
            str(n),
            "Q4_K_M",
            ANY,
            1e9,
            1.0,
            Closeness.GOOD,
            1,
            MemoryBill((bill,), 1, 1, Basis.ARITHMETIC),
            40.0,
        )
        for n, bill in enumerate(bills)
    ]
    (both,) = together(experts)
    assert both.total_bytes == 3 * GIB + 700


def test_size_counts_by_its_logarithm_and_a_mixture_by_the_mean_of_all_and_active() -> None:
    sizes = [capability(expert("x", billions, gib=1)) for billions in (0.6, 4, 9, 27, 70)]
    assert sizes == sorted(sizes)
    mixture = capability(expert("moe", 30, gib=1, active_share=0.1))
    assert capability(expert("x", 9, gib=1)) < mixture < capability(expert("x", 12, gib=1))
