"""A system of one's own, by functions in Python: mass, force, constraints, states, outputs.

    M(q,t) vdot = f(t,q,v,λ,ψ,x,y),  0 = Φ(t,q),  0 = k(t,q,v),  xdot = s(...),  y = o(...)

Each function is given a Point and returns its numbers."""

from __future__ import annotations

import contextlib
import threading
import warnings
import weakref
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._library import ffi, lib, text
from ._settings import settings
from .errors import Error, GalphaWarning, error_data, raise_context
from .results import Array, Event

Factor = Union[str, Tuple[str, int], Tuple[str, str]]
BLOCKS = ("v", "lambda", "psi", "x", "y")
_FIELDS = ("q", "v", "vdot", "lambda", "psi", "x", "y")  # of ga_point
_KINDS = {"rn": "GA_RN", "so3": "GA_SO3", "quat": "GA_QUAT", "r3so3": "GA_R3SO3", "se3": "GA_SE3"}


_lost: "List[BaseException]" = []  # exceptions that no call of a function has


class Retry(Exception):
    """Raised by a function: it cannot be evaluated here, and a smaller step is to be tried."""


class Point:
    """Where a function is evaluated: `t` and the arrays q, v, vdot, lambda_, psi, x, y.

    It is valid during the call alone, and says so afterwards. Arrays are copies, which may be kept and changed."""

    __slots__ = ("_p", "_n")

    def __init__(self, p: Any, lengths: "Dict[str, int]") -> None:
        self._p = p
        self._n = lengths

    def _array(self, name: str) -> Array:
        if self._p is None:
            raise RuntimeError("a Point is valid during the call of its function only: keep the arrays, not the point")
        n = self._n[name]
        out = np.empty(n)
        ffi.memmove(out, getattr(self._p, name), 8 * n)
        return out

    @property
    def t(self) -> float:
        """Time [s]."""
        if self._p is None:
            raise RuntimeError("a Point is valid during the call of its function only: keep the arrays, not the point")
        return float(self._p.t)

    @property
    def q(self) -> Array:
        """Positions, on the group."""
        return self._array("q")

    @property
    def v(self) -> Array:
        """Velocities."""
        return self._array("v")

    @property
    def vdot(self) -> Array:
        """Accelerations."""
        return self._array("vdot")

    @property
    def lambda_(self) -> Array:
        """Multipliers of Φ."""
        return self._array("lambda")

    @property
    def psi(self) -> Array:
        """Multipliers of k."""
        return self._array("psi")

    @property
    def x(self) -> Array:
        """States."""
        return self._array("x")

    @property
    def y(self) -> Array:
        """Outputs."""
        return self._array("y")


class Jacobian:
    """Derivatives of the residuals (M vdot - f, Φ, k, -s, -o), to be filled in; all zero before.

    D: in the columns of v shift_v ∂r/∂v + shift_vdot ∂r/∂vdot, in the others ∂r/∂λ, ∂r/∂ψ, ∂r/∂x, ∂r/∂y. Q: in the columns
    of v D_q r at fixed v and vdot. G: in rows of lambda and columns of v D_q (B v + Φ_t). Rows and columns in the order
    v, lambda, psi, x, y: System.rows() gives the slice of each. With a pattern: one number for each of its entries."""

    __slots__ = ("shift_v", "shift_vdot", "want", "D", "Q", "G")

    def __init__(self, J: Any, shape: "Tuple[int, ...]") -> None:
        self.shift_v = float(J.shift_v)
        self.shift_vdot = float(J.shift_vdot)
        self.want = int(J.want)
        self.D = np.zeros(shape)
        self.Q = np.zeros(shape)
        self.G = np.zeros(shape)


Function = Callable[[Point], Any]


class Crossing(NamedTuple):
    """An event: where `function` of a point passes 0.

    `direction`: +1 rising, -1 falling, 0 both. `action`: "record", "stop", or "restart", where change(t, q, v, x) gives new
    (q, v, x) or changes these arrays."""

    function: Function
    direction: int = 0
    action: str = "record"
    change: "Optional[Callable[[float, Array, Array, Array], Any]]" = None
    name: str = "event"


def _factors(group: "Union[int, Sequence[Factor]]") -> "Tuple[Any, int]":
    rows: "List[Any]" = [("rn", group)] if isinstance(group, int) else list(group)
    out = ffi.new("ga_factor[]", max(len(rows), 1))
    for at, row in zip(out, rows):
        kind, more = (row, None) if isinstance(row, str) else row
        if kind not in _KINDS:
            raise ValueError(f"group: {kind!r} is none of {', '.join(_KINDS)}")
        at.kind = getattr(lib, _KINDS[kind])
        if kind == "rn":
            if not isinstance(more, int):
                raise ValueError('group: ("rn", n) needs its dimension n')
            at.n = more
        elif more not in (None, "left", "right"):
            raise ValueError(f"group: {more!r} is neither left nor right")
        at.side = lib.GA_RIGHT if more == "right" else lib.GA_LEFT
    return out, len(rows)


class System:
    """Equations of motion by functions of a Point, which return their numbers as array or list.

    group: the space of q: n for R^n, or a list of ("rn", n), "so3", "quat", "r3so3", "se3", each ("so3", "right") where
    angular velocities are in space instead of in the body. mass: M vdot; force: f, with the forces of constraints, usually
    -Bᵀλ; both of as many numbers as v. phi: Φ [n_lambda]; phi_dot: B v + Φ_t; phi_acc: its rate at vdot = 0. k: k [n_psi]; k_acc.
    state: s [n_x]. output: o [n_y]; output_guess. jacobian(point, J) fills a Jacobian; without it, and without phi_dot, phi_acc
    and k_acc, the library takes differences. pattern: entries (row, column) that may be other than zero. rheonomic: Φ depends on t.
    smooth: nothing acts for a short time only, as pulses or contacts do: fewer checks within steps.

    An exception in a function ends the call with galpha.Error, whose cause it is; Retry asks for a smaller step."""

    def __init__(self, group: "Union[int, Sequence[Factor]]", *, mass: "Optional[Function]" = None,
                 force: "Optional[Function]" = None, n_lambda: int = 0, phi: "Optional[Function]" = None,
                 phi_dot: "Optional[Function]" = None, phi_acc: "Optional[Function]" = None, n_psi: int = 0,
                 k: "Optional[Function]" = None, k_acc: "Optional[Function]" = None, n_x: int = 0,
                 state: "Optional[Function]" = None, n_y: int = 0, output: "Optional[Function]" = None,
                 output_guess: "Optional[Function]" = None,
                 jacobian: "Optional[Callable[[Point, Jacobian], Any]]" = None,
                 pattern: "Optional[Sequence[Tuple[int, int]]]" = None, rheonomic: bool = False,
                 smooth: bool = False) -> None:
        self._functions: "Dict[str, Any]" = {
            "mass": mass, "force": force, "phi": phi, "phi_dot": phi_dot, "phi_acc": phi_acc, "k": k, "k_acc": k_acc,
            "state": state, "output": output, "output_guess": output_guess, "jacobian": jacobian}
        for name, function in self._functions.items():
            if function is not None and not callable(function):
                raise TypeError(f"{name}: {function!r} is not a function")
        self._lock = threading.RLock()  # one thread at a time: exceptions of functions belong to its call
        self._handle = ffi.new_handle(_Calls(self._functions))
        self._calls: _Calls = ffi.from_handle(self._handle)
        self._context = Context()
        definition = ffi.new("ga_system_def *", lib.ga_system_defaults())
        factors, definition.n_factors = _factors(group)
        definition.factors = factors
        definition.n_lambda, definition.n_psi, definition.n_x, definition.n_y = n_lambda, n_psi, n_x, n_y
        definition.user = self._handle
        definition.rheonomic, definition.smooth = int(rheonomic), int(smooth)
        for name, function in self._functions.items():
            if function is not None:
                setattr(definition, name, getattr(lib, "ga_py_" + name))
        if pattern is not None:
            rows = ffi.new("int[]", [int(r) for r, _ in pattern])
            columns = ffi.new("int[]", [int(c) for _, c in pattern])
            definition.n_pattern, definition.pattern_row, definition.pattern_col = len(pattern), rows, columns
        out = ffi.new("ga_system **")
        raise_context(self._context.at, lib.ga_system_create(self._context.at, definition, out))
        self._at = out[0]
        weakref.finalize(self, _destroy, "system", self._at, self._context, self._handle)
        self._measure(len(pattern) if pattern is not None else None)

    def _measure(self, n_pattern: "Optional[int]") -> None:
        blocks = (lib.GA_BLOCK_V, lib.GA_BLOCK_LAMBDA, lib.GA_BLOCK_PSI, lib.GA_BLOCK_X, lib.GA_BLOCK_Y)
        self.sizes: "Dict[str, int]" = {
            name: lib.ga_system_size(self._at, block) for name, block in zip(BLOCKS, blocks)}
        self._starts = {name: lib.ga_system_start(self._at, block) for name, block in zip(BLOCKS, blocks)}
        n, nv = lib.ga_system_n(self._at), self.sizes["v"]
        #: numbers of each array of a state
        self.lengths: "Dict[str, int]" = {"q": lib.ga_group_nq(lib.ga_system_group(self._at)), "vdot": nv, **self.sizes}
        self._calls.lengths = self.lengths
        self._calls.outputs = {
            "mass": nv, "force": nv, "phi": self.sizes["lambda"], "phi_dot": self.sizes["lambda"],
            "phi_acc": self.sizes["lambda"], "k": self.sizes["psi"], "k_acc": self.sizes["psi"], "state": self.sizes["x"],
            "output": self.sizes["y"], "output_guess": self.sizes["y"]}
        self._calls.matrix = (n_pattern,) if n_pattern is not None else (n, n)

    def rows(self, block: str) -> slice:
        """Rows and columns of a block of a Jacobian: "v", "lambda", "psi", "x", "y"."""
        return slice(self._starts[block], self._starts[block] + self.sizes[block])

    def move(self, q: Any, d: Any) -> Array:
        """q moved by d in the algebra: q exp(d) on the left, exp(d) q on the right."""
        a, b, out = self._vector("q", q), self._vector("v", d), np.empty(self.lengths["q"])
        lib.ga_group_move(lib.ga_system_group(self._at), _pointer(out), _pointer(a), _pointer(b))
        return out

    def difference(self, q: Any, q1: Any) -> Array:
        """The d with q1 = move(q, d)."""
        a, b, out = self._vector("q", q), self._vector("q", q1), np.empty(self.lengths["v"])
        lib.ga_group_difference(lib.ga_system_group(self._at), _pointer(out), _pointer(a), _pointer(b))
        return out

    def _vector(self, name: str, value: Any) -> Array:
        if np.iscomplexobj(value):
            raise TypeError(f"{name}: complex numbers")
        out = np.array(value if value is not None else np.zeros(self.lengths[name]), dtype=float).ravel()
        if out.shape != (self.lengths[name],):
            raise ValueError(f"{name}: {out.size} numbers instead of {self.lengths[name]}")
        return np.ascontiguousarray(out)

    def check(self, q: Any, v: Any = None, *, t: float = 0.0, vdot: Any = None, lambda_: Any = None, psi: Any = None,
              x: Any = None, y: Any = None, tolerance: float = 1e-6) -> int:
        """Compares the derivatives with differences at a point. Returns how many numbers were compared; galpha.Error
        names the wrong one."""
        given = {"q": q, "v": v, "vdot": vdot, "lambda": lambda_, "psi": psi, "x": x, "y": y}
        arrays = {name: self._vector(name, value) for name, value in given.items()}
        p = ffi.new("ga_point *")
        p.t = t
        for name, array in arrays.items():
            setattr(p, name, _pointer(array))
        report = ffi.new("ga_check_report *")
        with self._lock:
            self._finish(self._context, lib.ga_system_check(self._at, p, tolerance, report))
        return int(report.n_checked)

    def _finish(self, context: "Context", status: int) -> None:
        """Raises the failure of a call, with the exception of a function as its cause."""
        self._calls.raise_pending(context, status)
        context.warn()
        raise_context(context.at, status)

    def simulation(self, q0: Any, v0: Any = None, x0: Any = None, *, t0: float = 0.0, lambda_: Any = None,
                   psi: Any = None, events: "Sequence[Crossing]" = (), **given: Any) -> "Simulation":
        """A simulation that is started and makes one step at a time; arguments as of simulate()."""
        return Simulation(self, {"t_start": t0, **given}, events, (q0, v0, x0, lambda_, psi))

    def simulate(self, t_end: float, q0: Any, v0: Any = None, x0: Any = None, *, t0: float = 0.0, lambda_: Any = None,
                 psi: Any = None, events: "Sequence[Crossing]" = (), **given: Any) -> "Solution":
        """From t0 to t_end; initial values are made consistent with the constraints.

        Settings are those of galpha.run(): step (equal steps) or tolerance, method ("index3", "stabilized",
        "weighted", "soi2", "hht_soi2", "collocation", "automatic"), order, rho, output (time between records, by dense
        output; 0: every step), max_step, ...; galpha.settings() lists them."""
        return self.simulation(q0, v0, x0, t0=t0, lambda_=lambda_, psi=psi, events=events, t_end=t_end, **given).run()


class _Calls:
    """What the library's calls of a system's functions need."""

    def __init__(self, functions: "Dict[str, Any]") -> None:
        self.functions = functions
        self.lengths: "Dict[str, int]" = {}
        self.outputs: "Dict[str, int]" = {}
        self.matrix: "Tuple[int, ...]" = ()
        self.pending: "Optional[Tuple[str, BaseException]]" = None  # first exception since the last call

    def raise_pending(self, context: "Context", status: int) -> None:
        if _lost:
            self.pending = None
            raise _lost.pop()
        if self.pending is None:
            return
        name, cause = self.pending
        self.pending = None
        if not isinstance(cause, Exception):
            raise cause  # KeyboardInterrupt, SystemExit
        error = lib.ga_context_error(context.at)
        data = error_data(error) if status != lib.GA_OK and error.status == status else {}
        kind = type(cause).__name__
        at = f" at t = {data['t']:.9g} s" if data.get("t") is not None else ""
        raise Error(f"the function {name!r} failed{at}: {kind}: {cause}",
                    {**data, "callback": name, "status": "ERR_CALLBACK", "detail": f"{kind}: {cause}"}) from cause

    def fail(self, name: str, cause: BaseException) -> int:
        if self.pending is None:
            self.pending = name, cause
        return -1

    def write(self, name: str, value: Any, out: Any, n: int) -> None:
        """The numbers that a function has returned, into the library's array."""
        array = value
        if not (type(array) is np.ndarray and array.dtype == np.float64 and array.shape == (n,)
                and array.flags.c_contiguous):
            if array is None:
                raise TypeError(f"it returned None instead of {_numbers(n)}")
            array = np.asarray(value)
            if array.dtype.kind not in "fiub":
                raise TypeError(f"it returned {array.dtype} instead of real numbers")
            if array.shape != (n,) and not (array.shape == () and n == 1):
                raise ValueError(f"it returned an array of shape {array.shape} instead of {_numbers(n)}, ({n},)")
            array = np.ascontiguousarray(array, dtype=float)
        ffi.memmove(out, array, 8 * n)

    def evaluate(self, name: str, p: Any, out: Any) -> int:
        if self.pending is not None:
            return -1
        point = Point(p, self.lengths)
        try:
            self.write(name, self.functions[name](point), out, self.outputs[name])
            return 0
        except Retry:
            return 1
        except BaseException as cause:  # it must not pass through C
            return self.fail(name, cause)
        finally:
            point._p = None

    def jacobian(self, p: Any, J: Any) -> int:
        if self.pending is not None:
            return -1
        point = Point(p, self.lengths)
        try:
            ours = Jacobian(J, self.matrix)
            self.functions["jacobian"](point, ours)
            for letter in "DQG":
                given, to = np.asarray(getattr(ours, letter)), getattr(J, letter)
                if given.shape != self.matrix or given.dtype.kind not in "fiub":
                    raise ValueError(f"{letter} became {given.dtype} of shape {given.shape} instead of {self.matrix}")
                if to != ffi.NULL:
                    ffi.memmove(to, np.ascontiguousarray(given, dtype=float), 8 * given.size)
            return 0
        except Retry:
            return 1
        except BaseException as cause:
            return self.fail("jacobian", cause)
        finally:
            point._p = None


def _numbers(n: int) -> str:
    return "one number" if n == 1 else f"{n} numbers"


def _pointer(array: Array) -> Any:
    """Of an array, NULL where it is empty."""
    return ffi.from_buffer("double[]", array) if array.size else ffi.NULL


def _destroy(what: str, at: Any, *kept: Any) -> None:
    """Destroys an object of the library; `kept` is what it needs until then."""
    getattr(lib, f"ga_{what}_destroy")(ffi.new(f"ga_{what} **", at))


class Context:
    """Where failures and warnings of the library arrive."""

    def __init__(self) -> None:
        self.said: "List[str]" = []
        self._handle = ffi.new_handle(self.said)
        opts = ffi.new("ga_context_opts *", lib.ga_context_defaults())
        opts.log, opts.log_user = lib.ga_py_log, self._handle
        out = ffi.new("ga_context **")
        if lib.ga_context_create(opts, out) != lib.GA_OK:
            raise MemoryError
        self.at = out[0]
        weakref.finalize(self, _destroy, "context", self.at, self._handle)

    def warn(self) -> None:
        """Passes on what the library has warned of."""
        said, self.said[:] = list(dict.fromkeys(self.said)), []
        for line in said:
            warnings.warn(line, GalphaWarning, stacklevel=6)


class _Memory:
    """Memory of the library as NumPy sees it; the array keeps its owner alive."""

    def __init__(self, owner: Any, pointer: Any, n: int) -> None:
        self.owner = owner
        address = int(ffi.cast("uintptr_t", pointer)) if n else 0
        self.__array_interface__ = {"shape": (n,), "typestr": "<f8", "data": (address, True), "version": 3}


class State:
    """The state of a simulation: t, and views of the library's own memory without a copy.

    The next step changes them; the memory itself stays as long as they do."""

    t: float

    def __init__(self, owner: "Simulation", at: Any) -> None:
        self.t = float(at.t)
        for name in _STATE:
            n = owner.system.lengths[_LENGTH_OF.get(name, name)]
            view = np.asarray(_Memory(owner, getattr(at, name), n)) if n else np.empty(0)
            setattr(self, "lambda_" if name == "lambda" else name, view)

    q: Array
    v: Array
    vdot: Array
    a: Array
    lambda_: Array
    psi: Array
    eta: Array
    x: Array
    xdot: Array
    w: Array
    y: Array


_STATE = ("q", "v", "vdot", "a", "lambda", "psi", "eta", "x", "xdot", "w", "y")
_LENGTH_OF = {"a": "v", "eta": "lambda", "xdot": "x", "w": "x"}
_RECORDED = ("q", "v", "vdot", "lambda", "psi", "x", "y")


class Solution:
    """Records of a simulation: `t` [records], and q, v, vdot, lambda_, psi, x, y [records × numbers]."""

    t: Array
    q: Array
    v: Array
    vdot: Array
    lambda_: Array
    psi: Array
    x: Array
    y: Array

    def __init__(self, records: "List[Array]", lengths: "Dict[str, int]", events: "List[Event]", status: str,
                 stats: "Dict[str, float]") -> None:
        width = 1 + sum(lengths[name] for name in _RECORDED)
        table = np.array(records) if records else np.empty((0, width))
        self.t = table[:, 0]
        at = 1
        for name in _RECORDED:
            setattr(self, "lambda_" if name == "lambda" else name, table[:, at:at + lengths[name]])
            at += lengths[name]
        self.events = events  #: what happened, and when
        self.status = status  #: "finished", or "stopped" by an event
        self.stats = stats  #: steps, rejected steps, iterations, ...

    def __repr__(self) -> str:
        ends = f", t = {self.t[0]:.6g} ... {self.t[-1]:.6g} s" if len(self.t) else ""
        return f"<galpha.Solution: {len(self.t)} records{ends}, {self.status}>"


class Simulation:
    """A simulation of a System, step by step: for state in simulation: ..., or run()."""

    def __init__(self, system: System, given: "Dict[str, Any]", events: "Sequence[Crossing]", start: "Sequence[Any]",
                 ) -> None:
        self.system = system
        self.events: "List[Event]" = []
        self._crossings = list(events)
        self._context = Context()
        self._records: "List[Array]" = []
        self._me = weakref.ref(self)
        self._handle = ffi.new_handle(self._me)
        self._busy = threading.Lock()
        with system._lock:
            self._open(given, start)

    def _open(self, given: "Dict[str, Any]", start: "Sequence[Any]") -> None:
        c = self._context.at
        wanted = settings(c, given)
        stepper, opts = ffi.new("ga_stepper_opts *"), ffi.new("ga_simulate_opts *", lib.ga_simulate_defaults())
        raise_context(c, lib.ga_run_stepper_opts(c, wanted, stepper))
        raise_context(c, lib.ga_run_simulate_opts(c, wanted, opts))
        opts.user = self._handle
        opts.output = lib.ga_py_on_output if opts.output_every > 0.0 else ffi.NULL
        self._set_events(opts)
        self._stepper = self._create("stepper", lib.ga_stepper_create, c, self.system._at, stepper)
        self._simulator = self._create("simulator", lib.ga_simulator_create, c, self._stepper, opts)
        self._start(wanted, start)

    def _create(self, what: str, create: Any, *arguments: Any) -> Any:
        out = ffi.new(f"ga_{what} **")
        self.system._finish(self._context, create(*arguments, out))
        at = out[0]
        kept = self._context, self.system, self._handle, getattr(self, "_stepper", None), getattr(self, "_names", None)
        finalizer = weakref.finalize(self, _destroy, what, at, *kept)
        finalizer.atexit = False  # with all else
        return at

    def _set_events(self, opts: Any) -> None:
        if not self._crossings:
            return
        actions = {"record": lib.GA_EVENT_RECORD, "stop": lib.GA_EVENT_STOP, "restart": lib.GA_EVENT_RESTART}
        rows = ffi.new("ga_event[]", len(self._crossings))
        names = [ffi.new("char[]", c.name.encode("utf-8")) for c in self._crossings]
        for row, crossing in zip(rows, self._crossings):
            if crossing.action not in actions:
                raise ValueError(f"action: {crossing.action!r} is none of {', '.join(actions)}")
            row.direction, row.action = crossing.direction, actions[crossing.action]
        self._names = ffi.new("const char *[]", names), names, rows  # borrowed
        opts.n_events, opts.events, opts.event_names = len(rows), rows, self._names[0]
        opts.event_function, opts.on_event = lib.ga_py_events, lib.ga_py_on_event

    def _start(self, wanted: Any, start: "Sequence[Any]") -> None:
        names = ("q", "v", "x", "lambda", "psi")
        arrays = [self.system._vector(name, value) for name, value in zip(names, start)]
        opts = ffi.new("ga_start_opts *", lib.ga_run_start_opts(wanted))
        self._finish(lib.ga_simulator_start(self._simulator, opts, wanted.t_start, *map(_pointer, arrays), ffi.NULL))
        self._each_step = wanted.output == 0.0
        if self._each_step:
            self._record(lib.ga_stepper_state(self._stepper))

    def _finish(self, status: int) -> None:
        try:
            self.system._finish(self._context, status)
        except (Error, KeyboardInterrupt) as failure:
            failure.result = self.solution("failed")  # type: ignore[union-attr]
            raise

    def _record(self, s: Any) -> None:
        lengths = self.system.lengths
        row = np.empty(1 + sum(lengths[name] for name in _RECORDED))
        row[0] = s.t
        at = 1
        for name in _RECORDED:
            n = lengths[name]
            if n:
                ffi.memmove(row[at:], getattr(s, name), 8 * n)
            at += n
        self._records.append(row)

    @property
    def state(self) -> State:
        """The present state; a view without a copy."""
        return State(self, lib.ga_stepper_state(self._stepper))

    @property
    def finished(self) -> bool:
        """The end is reached."""
        return bool(lib.ga_simulator_finished(self._simulator))

    @contextlib.contextmanager
    def _alone(self) -> "Iterator[None]":
        """Nobody else uses this simulation meanwhile, neither another thread nor one of its own functions."""
        if not self._busy.acquire(blocking=False):
            raise RuntimeError("this simulation is in the middle of a step: another thread, or one of its own functions, "
                               "cannot go on with it")
        try:
            with self.system._lock:
                yield
        finally:
            self._busy.release()

    def step(self) -> bool:
        """One accepted step, with outputs and events in it. False: the end was reached, or an event stopped."""
        with self._alone():
            return self._step()

    def _step(self) -> bool:
        status = lib.ga_simulator_step(self._simulator)
        if status not in (lib.GA_OK, lib.GA_STOPPED) or self.system._calls.pending or _lost:
            self._finish(status if status != lib.GA_OK else lib.GA_ERR_CALLBACK)
        self._context.warn()
        if self._each_step and (not self._records or lib.ga_stepper_state(self._stepper).t > self._records[-1][0]):
            self._record(lib.ga_stepper_state(self._stepper))
        return bool(status == lib.GA_OK)

    def __iter__(self) -> "Iterator[State]":
        going = not self.finished
        while going:
            going = self.step()
            yield self.state

    def interpolate(self, t: float) -> "Dict[str, Array]":
        """Dense output: q, v, vdot, lambda, psi, x, y at a time within the last step."""
        out = {name: np.empty(self.system.lengths[name]) for name in _RECORDED}
        with self._alone():
            self._finish(lib.ga_stepper_interpolate(self._stepper, t, *(_pointer(out[name]) for name in _RECORDED)))
        return out

    def run(self) -> Solution:
        """To the end."""
        while not self.finished and self.step():
            pass
        return self.solution("finished" if self.finished else "stopped")

    def solution(self, status: str = "running") -> Solution:
        """The records so far."""
        simulate, stepper = lib.ga_simulator_stats(self._simulator), lib.ga_stepper_stats(self._stepper)
        stats = {name: getattr(at, name) for at in (stepper, simulate) if at != ffi.NULL
                 for name, _ in ffi.typeof(at).item.fields}
        return Solution(self._records, self.system.lengths, list(self.events), status, stats)

    # ---- Called by the library ----

    def _on_events(self, p: Any, g: Any) -> int:
        calls = self.system._calls
        if calls.pending is not None:
            return -1
        point = Point(p, self.system.lengths)
        name = "event"
        try:
            for i, crossing in enumerate(self._crossings):
                name = crossing.name
                calls.write(name, crossing.function(point), g + i, 1)
            return 0
        except BaseException as cause:
            return calls.fail(name, cause)
        finally:
            point._p = None

    def _on_event(self, event: int, s: Any, q: Any, v: Any, x: Any) -> int:
        calls, crossing = self.system._calls, self._crossings[event]
        try:
            self.events.append(Event(float(s.t), crossing.name))
            if not self._each_step:
                self._record(s)
            if q == ffi.NULL or crossing.change is None:
                return 0
            lengths = self.system.lengths
            arrays = [np.array(ffi.unpack(at, lengths[name])) if lengths[name] else np.empty(0)
                      for at, name in ((q, "q"), (v, "v"), (x, "x"))]
            changed = crossing.change(float(s.t), *arrays)
            for at, name, array in zip((q, v, x), ("q", "v", "x"), arrays if changed is None else changed):
                if lengths[name]:
                    calls.write(f"{crossing.name}: {name}", array, at, lengths[name])
            return 0
        except BaseException as cause:
            return calls.fail(crossing.name, cause)


# ---- The library's calls, by the names of declarations.py ----


def _lose(kind: Any, cause: BaseException, trace: Any) -> None:
    """Ctrl-C between C and a function: for the next one who looks for exceptions."""
    _lost.append(cause)



def _evaluation(name: str) -> None:
    def call(user: Any, p: Any, out: Any) -> int:
        return int(ffi.from_handle(user).evaluate(name, p, out))

    ffi.def_extern(name="ga_py_" + name, error=-1, onerror=_lose)(call)


for _name in ("mass", "force", "phi", "phi_dot", "phi_acc", "k", "k_acc", "state", "output", "output_guess"):
    _evaluation(_name)


@ffi.def_extern(name="ga_py_jacobian", error=-1, onerror=_lose)  # type: ignore[misc]
def _jacobian(user: Any, p: Any, J: Any) -> int:
    return int(ffi.from_handle(user).jacobian(p, J))


@ffi.def_extern(name="ga_py_events", error=-1, onerror=_lose)  # type: ignore[misc]
def _events(user: Any, p: Any, g: Any) -> int:
    return int(ffi.from_handle(user)()._on_events(p, g))


@ffi.def_extern(name="ga_py_on_event", error=-1, onerror=_lose)  # type: ignore[misc]
def _on_event(user: Any, event: int, s: Any, q: Any, v: Any, x: Any) -> int:
    return int(ffi.from_handle(user)()._on_event(event, s, q, v, x))


@ffi.def_extern(name="ga_py_on_output", error=-1, onerror=_lose)  # type: ignore[misc]
def _on_output(user: Any, s: Any) -> int:
    ffi.from_handle(user)()._record(s)
    return 0


@ffi.def_extern(name="ga_py_log", onerror=_lose)  # type: ignore[misc]
def _log(user: Any, level: int, message: Any) -> None:
    ffi.from_handle(user).append(text(message.text))
