"""galpha: constrained mechatronic systems by generalized-α and collocation.

Models in files:    run, static, kinematics, modes, linearize, check, write; load opens results
Many runs:          sweep, sensitivity
Machines by parts:  Machine
Your own equations: System

    import galpha
    res = galpha.run("pendulum.yaml", t_end=2, set={"m": 3})
    res["hinge.angle"], res.unit("hinge.angle"), res.plot("hinge.angle")
"""

from ._commands import Outcome, command
from ._library import version
from ._settings import about as settings
from .analyses import LinearModel, Modes, Report, check, kinematics, linearize, modes, run, static, write
from .errors import Error, GalphaWarning, Interrupted, Message, ModelError, reasons
from .machine import Machine
from .results import Event, Result, load
from .studies import Gradient, Table, sensitivity, sweep
from .system import Crossing, Jacobian, Point, Retry, Simulation, Solution, State, System

__version__ = version()
__all__ = ["Crossing", "Error", "Event", "GalphaWarning", "Gradient", "Interrupted", "Jacobian", "LinearModel", "Machine",
           "Message", "ModelError", "Modes", "Outcome", "Point", "Report", "Result", "Retry", "Simulation", "Solution", "State",
           "System", "check", "command", "kinematics", "linearize", "load", "modes", "reasons", "run",
           "sensitivity", "settings", "static", "sweep", "Table", "version", "write"]
